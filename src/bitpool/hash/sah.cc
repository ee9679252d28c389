#include "bitpool/hash/sah.h"

#include <utility>

#include "bitpool/base/stopwatch.h"

namespace bitpool {
namespace {

HashModel ModelOf(const SahOptions& options, const JointState& state,
                  const ViewWhitening* whitening) {
  return {.method = "sah",
          .encoder = std::make_shared<LinearEncoder>(state.encoder),
          .decoder = state.decoder,
          .pooling = PoolingRecipe{.normalise = options.normalise,
                                   .mu = options.mu,
                                   .gamma = state.gamma,
                                   .metric = whitening ? whitening->forward.weights : MatrixF()}};
}

}  // namespace

Trained<HashModel> TrainSah(const SahOptions& options, const RecordStore& records,
                            const RunContext& context, JointRun run,
                            const ViewWhitening* whitening) {
  TrainingSummary summary;
  const JointState state =
      Alternate(options, records, nullptr, context, std::move(run), summary, whitening);
  return {.model = ModelOf(options, state, whitening), .summary = std::move(summary)};
}

Trained<HashModel> TrainSah(const SahOptions& options, Shards& shards, const RunContext& context) {
  TrainingSummary summary;
  const JointState state = Alternate(options, shards, {}, context, {}, summary);
  return {.model = ModelOf(options, state, nullptr), .summary = std::move(summary)};
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
