#include "bitpool/hash/alternation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/alternation_passes.h"
#include "bitpool/hash/initial_codes.h"
#include "bitpool/hash/relaxed_autoencoder.h"
#include "bitpool/hash/shard_passes.h"
#include "bitpool/pool/coupling.h"

namespace bitpool {
namespace {

constexpr const char* kCodes = "codes";
constexpr const char* kWhitened = "whitened";

// One turn after the other; knows the shards and the constants.
class Alternation {
 public:
  Alternation(const SahOptions& options, Shards& shards, std::string labels,
              const ViewWhitening* whitening, const RunContext& context)
      : options_(options),
        shards_(shards),
        labels_(std::move(labels)),
        whitening_(whitening),
        context_(context) {}

  // One turn of the loop.
  JointState Iterate(const JointState& state) const {
    const Stopwatch watch;
    const std::string vectors = VectorsAfter(state.iterations.size());
    const std::string inputs = InputsFrom(vectors);
    const Moments moments = MomentsOf(inputs, context_);
    RequireTrainable(moments);
    const double variance = moments.Covariance().trace();
    const Weights weights = labels_.empty() ? WeightsForVectors(variance, shards_.size())
                                            : WeightsForLabels(variance, shards_.size());
    JointState next;
    next.iterations = state.iterations;
    TrainingIteration record = LearnHash(weights, moments, inputs, state.iterations.empty(), next);
    if (whitening_ != nullptr) FoldWhitening(next);
    PoolPass pass(
        next, options_,
        {.from = vectors, .to = VectorsAfter(state.iterations.size() + 1), .labels = labels_},
        whitening_ != nullptr ? whitening_->forward.weights : MatrixF());
    const Sums pooled = RunSums<Sums>(shards_, pass, PoolPass::Blank(), context_);
    const auto images = static_cast<double>(shards_.size());
    record.aggregation = pooled.number("aggregation") / images;
    record.objective = weights.unit * record.objective + options_.gamma * record.aggregation;
    record.reconstruction *= weights.unit;
    record.flipped = pooled.number("flipped") / (images * options_.bits);
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

  Moments MomentsOf(const std::string& columns, const RunContext& context) const {
    MomentsPass pass(columns);
    return RunSums(shards_, pass, Moments(), context);
  }

  // What the hash functions learn from.
  std::string InputsFrom(const std::string& vectors) const {
    if (whitening_ == nullptr) return vectors;
    MapPass map(whitening_->forward, vectors, kWhitened);
    RunSums<Sums>(shards_, map, {}, context_);
    return kWhitened;
  }

  // Maps of whitened vectors become those of the vectors.
  void FoldWhitening(JointState& state) const {
    state.encoder = Compose(whitening_->forward, state.encoder);
    if (labels_.empty()) state.decoder = Compose(state.decoder, whitening_->back);
  }

  // Learns the maps of `next`, and the codes, from the vectors.
  TrainingIteration LearnHash(const Weights& weights, const Moments& moments,
                              const std::string& vectors, bool first, JointState& next) const {
    const RunContext quiet = context_.WithoutProgress();
    if (first) MakeInitialCodes(weights, moments, vectors);
    RelaxedAutoencoder autoencoder(weights.autoencoder, shards_,
                                   {.inputs = vectors, .targets = labels_, .codes = kCodes},
                                   moments, options_.bits, nullptr, quiet);
    TrainingIteration record;
    for (int i = 0; i < options_.rba.iterations; ++i) {
      record = autoencoder.Iterate(quiet);
      if (record.flipped <= options_.rba.min_flipped) break;
    }
    next.encoder = autoencoder.Encoder();
    next.decoder = autoencoder.Decoder();
    next.gamma = weights.gamma;
    return record;
  }

  // Codes to begin with: ITQ's.
  void MakeInitialCodes(const Weights& weights, const Moments& moments,
                        const std::string& vectors) const {
    if (labels_.empty() || !options_.codes_from_labels) {
      NoteItqCodes(shards_, vectors, kCodes, moments, options_.bits, context_);
    } else {
      NoteCodesOfLabels(shards_, {.inputs = vectors, .targets = labels_, .codes = kCodes}, moments,
                        weights.autoencoder.encoder_ridge, options_.bits, context_);
    }
  }

  const SahOptions& options_;
  Shards& shards_;
  std::string labels_;  // empty: the codes are to reconstruct the vectors
  const ViewWhitening* whitening_;
  const RunContext& context_;
};

// A stored state may belong to another training.
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
  RequirePositive(gamma, "gamma of the joint training");
  RequirePositive(mu, "mu of the joint training");
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

ImageShard::ImageShard(ShardPlace place, const RecordStore& records)
    : Shard(place), records_(records) {
  if (records.size() == place.count) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("records of a shard: expected {}, one per image, got {}", place.count,
                          records.size()));
}

std::string VectorsAfter(size_t iterations) {
  return iterations % 2 == 0 ? "vectors.even" : "vectors.odd";
}

void PoolInitialVectors(const SahOptions& options, Shards& shards, const std::string& name,
                        const RunContext& context) {
  InitialPoolPass pass(options, name);
  RunSums<Sums>(shards, pass, {}, context);
}

MatrixF InitialVectors(const SahOptions& options, const RecordStore& records,
                       const RunContext& context) {
  const PoolingSystem gmp(Coupling::None(records.dimension()),
                          {.mu = options.mu, .tolerance = options.tolerance});
  return PoolRecords(records, gmp, context);
}

JointState Alternate(const SahOptions& options, Shards& shards, const std::string& labels,
                     const RunContext& context, JointRun run, TrainingSummary& summary,
                     const ViewWhitening* whitening) {
  options.Validate();
  const Stopwatch watch;
  const Alternation alternation(options, shards, labels, whitening, context);
  JointState state;
  if (run.resume) {
    state = *std::move(run.resume);
  } else {
    PoolInitialVectors(options, shards, VectorsAfter(0), context);
  }
  summary.samples = shards.size();
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

JointState Alternate(const SahOptions& options, const RecordStore& records,
                     const ColumnSource* labels, const RunContext& context, JointRun run,
                     TrainingSummary& summary, const ViewWhitening* whitening) {
  options.Validate();
  ImageShard shard({.count = records.size(), .total = records.size()}, records);
  std::string name;
  if (labels != nullptr) {
    name = "labels";
    shard.Give(name, *labels);
  }
  BinaryCodes codes(options.bits);  // of the last complete iteration
  if (run.resume) {
    RequireSameTraining(options, records, labels, *run.resume);
    codes = run.resume->codes;
    shard.Bytes(kCodes).assign(codes.rows().begin(), codes.rows().end());
    shard.Matrix(VectorsAfter(run.resume->iterations.size())) = std::move(run.resume->vectors);
  }
  const auto observe = [&, observer = std::move(run.observer)](JointState state) {
    codes = BinaryCodes(options.bits, shard.Bytes(kCodes));
    if (!observer) return;
    MatrixF& vectors = shard.Matrix(VectorsAfter(state.iterations.size()));
    state.codes = codes;
    state.vectors.swap(vectors);  // lent
    observer(state);
    state.vectors.swap(vectors);
  };
  LocalShards shards({&shard});
  JointState state =
      Alternate(options, shards, name, context,
                {.resume = std::move(run.resume), .observer = observe}, summary, whitening);
  state.vectors = std::move(shard.Matrix(VectorsAfter(state.iterations.size())));
  state.codes = std::move(codes);
  return state;
}

}  // namespace bitpool
