#include "bitpool/hash/alternation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/itq.h"
#include "bitpool/hash/relaxed_autoencoder.h"
#include "bitpool/pool/coupling.h"

namespace bitpool {
namespace {

constexpr size_t kColumnsPerTask = 1024;

// One turn after the other; knows the data and the constants.
class Alternation {
 public:
  Alternation(const SahOptions& options, const RecordStore& records, const ColumnSource* labels,
              const RunContext& context)
      : options_(options), records_(records), labels_(labels), context_(context) {}

  // One turn of the loop.
  JointState Iterate(const JointState& state) const {
    const Stopwatch watch;
    const MatrixColumns vectors(state.vectors);
    const Moments moments = ComputeMoments(vectors, context_);
    RequireTrainable(moments);
    const double variance = moments.Covariance().trace();
    const Weights weights = labels_ == nullptr ? WeightsForVectors(variance, vectors.size())
                                               : WeightsForLabels(variance, vectors.size());
    JointState next;
    next.iterations = state.iterations;
    TrainingIteration record = LearnHash(weights, moments, state, next);
    record.aggregation = LearnVectors(state.vectors, next);
    record.objective = weights.unit * record.objective + options_.gamma * record.aggregation;
    record.reconstruction *= weights.unit;
    record.flipped = Flipped(state.vectors, next);
    record.seconds = watch.seconds();
    next.iterations.push_back(record);
    return next;
  }

 private:
  // The constants in the units of the vectors.
  struct Weights {
    AutoencoderWeights autoencoder;
    double gamma = 0;  // of the coupled system
    double unit = 1;   // s²: a square of the vectors in the scale of the constants
  };

  Weights WeightsForVectors(double variance, Index images) const {
    // The coupled system of s·φ divided by s²: the same maps, and γ/s² for γ.
    const double unit = options_.rba.scale == ConstantScale::kLiteral
                            ? 1
                            : static_cast<double>(options_.bits) / variance;
    return {.autoencoder = WeightsFor(options_.rba, options_.bits, variance, images),
            .gamma = options_.gamma / unit,
            .unit = unit};
  }

  Weights WeightsForLabels(double variance, Index images) const {
    // Labels have no scale: only the ridge of the encoder, in squares of the vectors, depends on
    // theirs.
    AutoencoderWeights weights = WeightsFor(options_.rba, options_.bits, variance, images);
    weights.quantisation = options_.rba.lambda;
    return {.autoencoder = weights, .gamma = options_.gamma, .unit = 1};
  }

  // Maps and codes of `next` from the vectors of `state`.
  TrainingIteration LearnHash(const Weights& weights, const Moments& moments,
                              const JointState& state, JointState& next) const {
    const RunContext quiet = context_.WithoutProgress();
    const MatrixColumns vectors(state.vectors);
    next.codes = state.iterations.empty() ? InitialCodes(weights, moments, vectors) : state.codes;
    RelaxedAutoencoder autoencoder(weights.autoencoder, vectors, moments, labels_, next.codes,
                                   quiet);
    TrainingIteration record;
    for (int i = 0; i < options_.rba.iterations; ++i) {
      record = autoencoder.Iterate(quiet);
      if (record.flipped <= options_.rba.min_flipped) break;
    }
    next.codes = autoencoder.codes();
    next.encoder = autoencoder.Encoder();
    next.decoder = autoencoder.Decoder();
    next.gamma = weights.gamma;
    return record;
  }

  // Codes to begin with: ITQ's.
  BinaryCodes InitialCodes(const Weights& weights, const Moments& moments,
                           const ColumnSource& vectors) const {
    if (labels_ == nullptr || !options_.codes_from_labels) return ItqCodes(vectors, moments);
    const double ridge = weights.autoencoder.encoder_ridge * static_cast<double>(vectors.size());
    const LinearMap predict =
        RidgeSolver(moments, ridge).Solve(ComputeCrossScatter(vectors, *labels_, context_));
    MatrixF predicted(labels_->dimension(), vectors.size());
    context_.ParallelFor(
        static_cast<size_t>(vectors.size()), kColumnsPerTask, [&](size_t begin, size_t end) {
          const auto first = static_cast<Index>(begin), count = static_cast<Index>(end - begin);
          MatrixF buffer;
          predicted.middleCols(first, count) =
              (predict.weights * vectors.Read(first, count, buffer)).colwise() + predict.bias;
        });
    const MatrixColumns source(predicted);
    return ItqCodes(source, ComputeMoments(source, context_));
  }

  BinaryCodes ItqCodes(const ColumnSource& source, const Moments& moments) const {
    const RunContext quiet = context_.WithoutProgress();
    TrainingSummary unused;
    const LinearEncoder itq(
        FindItqEncoder({.bits = options_.bits}, source, moments, quiet, unused));
    context_.ThrowIfStopped();
    return EncodeAll(itq, source, quiet);
  }

  // Vectors of `next` from its maps; returns the mean of ‖Vᵀφ − 1‖² + μ‖φ‖².
  double LearnVectors(const MatrixF& before, JointState& next) const {
    const PoolingSystem system(
        labels_ == nullptr ? Coupling::Autoencoder(next.encoder, next.decoder)
                           : Coupling::Labels(next.encoder, next.decoder),
        {.mu = options_.mu, .gamma = next.gamma, .tolerance = options_.tolerance});
    next.vectors.resizeLike(before);
    VectorD aggregation(records_.size());
    ForEachRecord(records_, context_, [&](Index image, const ImageRecord& record) {
      MatrixF label;
      const auto start = before.col(image);
      const VectorF vector =
          record.Solve(system, {.label = LabelOf(image, label),
                                .start = {start.data(), static_cast<size_t>(start.size())}});
      next.vectors.col(image) = vector;
      aggregation[image] =
          record.Inequality(vector) + options_.mu * vector.cast<double>().squaredNorm();
    });
    return aggregation.mean();
  }

  // y of an image, in the labels' memory or in `buffer`; empty without labels.
  std::span<const float> LabelOf(Index image, MatrixF& buffer) const {
    if (labels_ == nullptr) return {};
    const ColumnsView column = labels_->Read(image, 1, buffer);
    return {column.data(), static_cast<size_t>(column.size())};
  }

  // The share of the codes' bits that differ between the vectors before and after.
  double Flipped(const MatrixF& before, const JointState& next) const {
    const LinearEncoder encoder(next.encoder);
    const RunContext quiet = context_.WithoutProgress();
    const BinaryCodes old = EncodeAll(encoder, MatrixColumns(before), quiet);
    const BinaryCodes now = EncodeAll(encoder, MatrixColumns(next.vectors), quiet);
    return static_cast<double>(HammingDistance(old.rows(), now.rows())) /
           static_cast<double>(now.size() * now.bits());
  }

  const SahOptions& options_;
  const RecordStore& records_;
  const ColumnSource* labels_;  // null: the codes are to reconstruct the vectors
  const RunContext& context_;
};

// A state that was stored may be that of another training.
void RequireSameTraining(const SahOptions& options, const RecordStore& records,
                         const ColumnSource* labels, const JointState& state) {
  const Index decoded = labels == nullptr ? records.dimension() : labels->dimension();
  if (state.vectors.cols() == records.size() && state.vectors.rows() == records.dimension() &&
      (state.iterations.empty() ||
       (state.codes.size() == records.size() && state.codes.bits() == options.bits &&
        state.decoder.weights.rows() == decoded))) {
    return;
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("the training to resume is of {} images of dimension {} and {} bits, with a "
                  "decoder to {}; expected {} images of dimension {} and {} bits, with a decoder "
                  "to {}",
                  state.vectors.cols(), state.vectors.rows(), state.codes.bits(),
                  state.decoder.weights.rows(), records.size(), records.dimension(), options.bits,
                  decoded));
}

void RequirePositive(double value, const char* name) {
  if (value > 0 && std::isfinite(value)) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("{} of the joint training: expected a positive number, got {}", name, value));
}

}  // namespace

SahOptions SahOptions::Paper(int bits) {
  SahOptions options;
  options.bits = bits;
  options.rba = RbaConstants::Paper();
  options.rba.beta = 0.1;
  options.gamma = 10;
  options.mu = 100;
  options.min_flipped = 0;
  return options;
}

void SahOptions::Validate() const {
  RequireBits(bits);
  rba.Validate();
  RequirePositive(gamma, "gamma");
  RequirePositive(mu, "mu");
  if (!(tolerance > 0 && tolerance < 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("tolerance of the joint training: expected between 0 and 1, got {}",
                            tolerance));
  }
  if (iterations < 1) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("iterations of the joint training: expected 1 or more, got {}", iterations));
  }
  if (!(min_flipped >= 0 && min_flipped <= 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("share of flipped bits: expected 0 to 1, got {}", min_flipped));
  }
}

MatrixF InitialVectors(const SahOptions& options, const RecordStore& records,
                       const RunContext& context) {
  const PoolingSystem gmp(Coupling::None(records.dimension()),
                          {.mu = options.mu, .tolerance = options.tolerance});
  return PoolRecords(records, gmp, context);
}

JointState Alternate(const SahOptions& options, const RecordStore& records,
                     const ColumnSource* labels, const RunContext& context, JointRun run,
                     TrainingSummary& summary) {
  options.Validate();
  const Stopwatch watch;
  const Alternation alternation(options, records, labels, context);
  JointState state;
  if (run.resume) {
    RequireSameTraining(options, records, labels, *run.resume);
    state = *std::move(run.resume);
  } else {
    state.vectors = InitialVectors(options, records, context);
  }
  summary.samples = records.size();
  const auto finished = [&] {
    return !state.iterations.empty() && state.iterations.back().flipped <= options.min_flipped;
  };
  while (static_cast<int>(state.iterations.size()) < options.iterations && !finished()) {
    try {
      state = alternation.Iterate(state);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCancelled || state.iterations.empty()) throw;
      summary.interrupted = true;
      break;
    }
    if (run.observer) run.observer(state);
  }
  summary.iterations = state.iterations;
  summary.converged = finished();
  summary.seconds = watch.seconds();
  return state;
}

}  // namespace bitpool
