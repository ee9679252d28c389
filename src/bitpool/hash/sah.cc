#include "bitpool/hash/sah.h"

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

class SahTrainer {
 public:
  SahTrainer(const SahOptions& options, const RecordStore& records, const RunContext& context)
      : options_(options), records_(records), context_(context) {
    options_.rba.bits = options.bits;
    options_.rba.itq.bits = options.bits;
  }

  // One turn of alg2's loop.
  SahState Iterate(const SahState& state) const {
    const Stopwatch watch;
    const MatrixColumns vectors(state.vectors);
    const Moments moments = ComputeMoments(vectors, context_);
    RequireTrainable(moments);
    const Weights weights = MakeWeights(moments.Covariance().trace(), vectors.size());
    SahState next;
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

  Weights MakeWeights(double variance, Index images) const {
    // The coupled system of s·φ divided by s²: the same maps, and γ/s² for γ.
    const double unit = options_.rba.scale == ConstantScale::kLiteral
                            ? 1
                            : static_cast<double>(options_.bits) / variance;
    return {.autoencoder = WeightsFor(options_.rba, variance, images),
            .gamma = options_.gamma / unit,
            .unit = unit};
  }

  // Maps and codes of `next` from the vectors of `state`.
  TrainingIteration LearnHash(const Weights& weights, const Moments& moments, const SahState& state,
                              SahState& next) const {
    const RunContext quiet = context_.WithoutProgress();
    const MatrixColumns vectors(state.vectors);
    next.codes = state.codes;
    if (state.iterations.empty()) {
      TrainingSummary unused;
      const LinearEncoder itq(FindItqEncoder(options_.rba.itq, vectors, moments, quiet, unused));
      context_.ThrowIfStopped();
      next.codes = EncodeAll(itq, vectors, quiet);
    }
    RelaxedAutoencoder autoencoder(weights.autoencoder, vectors, moments, nullptr, next.codes,
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

  // Vectors of `next` from its maps; returns the mean of ‖Vᵀφ − 1‖² + μ‖φ‖².
  double LearnVectors(const MatrixF& before, SahState& next) const {
    const PoolingSystem system(
        Coupling::Autoencoder(next.encoder, next.decoder),
        {.mu = options_.mu, .gamma = next.gamma, .tolerance = options_.tolerance});
    next.vectors.resizeLike(before);
    VectorD aggregation(records_.size());
    ForEachRecord(records_, context_, [&](Index image, const ImageRecord& record) {
      const auto start = before.col(image);
      const VectorF vector =
          record.Solve(system, {.start = {start.data(), static_cast<size_t>(start.size())}});
      next.vectors.col(image) = vector;
      aggregation[image] =
          record.Inequality(vector) + options_.mu * vector.cast<double>().squaredNorm();
    });
    return aggregation.mean();
  }

  // The share of the codes' bits that differ between the vectors before and after.
  double Flipped(const MatrixF& before, const SahState& next) const {
    const LinearEncoder encoder(next.encoder);
    const RunContext quiet = context_.WithoutProgress();
    const BinaryCodes old = EncodeAll(encoder, MatrixColumns(before), quiet);
    const BinaryCodes now = EncodeAll(encoder, MatrixColumns(next.vectors), quiet);
    return static_cast<double>(HammingDistance(old.rows(), now.rows())) /
           static_cast<double>(now.size() * now.bits());
  }

  SahOptions options_;
  const RecordStore& records_;
  const RunContext& context_;
};

HashModel ModelOf(const SahOptions& options, const SahState& state) {
  return {.method = "sah",
          .encoder = std::make_shared<LinearEncoder>(state.encoder),
          .decoder = state.decoder,
          .pooling = PoolingRecipe{
              .normalise = options.normalise, .mu = options.mu, .gamma = state.gamma}};
}

// A state that was stored may be that of another training.
void RequireSameTraining(const SahOptions& options, const RecordStore& records,
                         const SahState& state) {
  if (state.vectors.cols() == records.size() && state.vectors.rows() == records.dimension() &&
      (state.iterations.empty() ||
       (state.codes.size() == records.size() && state.codes.bits() == options.bits))) {
    return;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("the training to resume is of {} images of dimension {} and {} bits; "
                          "expected {} images of dimension {} and {} bits",
                          state.vectors.cols(), state.vectors.rows(), state.codes.bits(),
                          records.size(), records.dimension(), options.bits));
}

void RequirePositive(double value, const char* name) {
  if (value > 0 && std::isfinite(value)) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} of SAH: expected a positive number, got {}", name, value));
}

}  // namespace

SahOptions SahOptions::Paper(int bits) {
  SahOptions options;
  options.bits = bits;
  options.rba = RbaOptions::Paper(bits);
  options.rba.beta = 0.1;
  options.gamma = 10;
  options.mu = 100;
  options.min_flipped = 0;
  return options;
}

void SahOptions::Validate() const {
  RequireBits(bits);
  RbaOptions hashing = rba;
  hashing.bits = bits;
  hashing.Validate();
  RequirePositive(gamma, "gamma");
  RequirePositive(mu, "mu");
  if (!(tolerance > 0 && tolerance < 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("tolerance of SAH: expected between 0 and 1, got {}", tolerance));
  }
  if (iterations < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("iterations of SAH: expected 1 or more, got {}", iterations));
  }
  if (!(min_flipped >= 0 && min_flipped <= 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("share of flipped bits: expected 0 to 1, got {}", min_flipped));
  }
}

Trained<HashModel> TrainSah(const SahOptions& options, const RecordStore& records,
                            const RunContext& context, SahRun run) {
  options.Validate();
  const Stopwatch watch;
  const SahTrainer trainer(options, records, context);
  SahState state;
  if (run.resume) {
    RequireSameTraining(options, records, *run.resume);
    state = *std::move(run.resume);
  } else {
    const PoolingSystem gmp(Coupling::None(records.dimension()),
                            {.mu = options.mu, .tolerance = options.tolerance});
    state.vectors = PoolRecords(records, gmp, context);
  }
  TrainingSummary summary;
  summary.samples = records.size();
  const auto finished = [&] {
    return !state.iterations.empty() && state.iterations.back().flipped <= options.min_flipped;
  };
  while (static_cast<int>(state.iterations.size()) < options.iterations && !finished()) {
    try {
      state = trainer.Iterate(state);
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
  return {.model = ModelOf(options, state), .summary = std::move(summary)};
}

Trained<HashModel> TrainSah(const SahOptions& options, const FeatureSet& features,
                            const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  MemoryRecords records(features.dimension());
  std::vector<std::string> skipped = ReduceImages(features, options.normalise, records, context);
  Trained<HashModel> trained = TrainSah(options, records, context, {});
  trained.summary.skipped = std::move(skipped);
  trained.summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
