#include "bitpool/pipeline/feature_training.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/sah.h"
#include "bitpool/pipeline/checkpoint_file.h"
#include "bitpool/pipeline/record_file.h"
#include "bitpool/pool/coupling.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

fs::path Beside(const fs::path& output, const char* suffix) {
  fs::path path = output;
  path += suffix;
  return path;
}

// What a checkpoint belongs to.
nlohmann::json JobOf(const FeatureTraining& training, const FeatureSet& features, uint64_t seed) {
  Index descriptors = 0;
  for (Index image = 0; image < features.size(); ++image) {
    descriptors += features.descriptor_count(image);
  }
  nlohmann::json job = DescribeSettings(training.settings, seed);
  job.erase("iterations");  // going on for longer is the same job
  job["images"] = features.size();
  job["dimension"] = features.dimension();
  job["descriptors"] = descriptors;
  return job;
}

Trained<HashModel> Sah(Env& env, const FeatureTraining& training, const FeatureSet& features,
                       const RunContext& context) {
  const SahOptions options = SahOptionsFrom(training.settings);
  const fs::path checkpoint = Beside(training.output, ".checkpoint");
  const nlohmann::json job = JobOf(training, features, context.seed());
  SahRun run;
  if (training.resume && env.Exists(checkpoint)) run.resume = LoadCheckpoint(env, checkpoint, job);
  run.observer = [&](const SahState& state) { SaveCheckpoint(env, checkpoint, state, job); };
  const std::unique_ptr<RecordStore> records =
      MakeRecordStore(env, features, training.memory, Beside(training.output, ".records"));
  std::vector<std::string> skipped = ReduceImages(features, options.normalise, *records, context);
  Trained<HashModel> trained = TrainSah(options, *records, context, std::move(run));
  trained.summary.skipped = std::move(skipped);
  return trained;
}

// The columns of the images that did not fail.
MatrixF GoodVectors(const PooledImages& pooled) {
  std::vector<Index> good;
  auto failed = pooled.failed.begin();
  for (Index image = 0; image < pooled.vectors.cols(); ++image) {
    if (failed != pooled.failed.end() && failed->image == image) {
      ++failed;
    } else {
      good.push_back(image);
    }
  }
  return pooled.vectors(Eigen::all, good);
}

Trained<HashModel> OnPooledVectors(const FeatureTraining& training, const FeatureSet& features,
                                   const RunContext& context) {
  const PoolingRecipe recipe{.normalise = training.settings.normalise,
                             .mu = training.settings.mu.value_or(SahOptions().mu),
                             .gamma = 0};
  const PooledImages pooled = PoolImages({Coupling::None(features.dimension()), {.mu = recipe.mu}},
                                         recipe.normalise, features, context);
  const MatrixF vectors = GoodVectors(pooled);
  Trained<HashModel> trained = TrainHash(training.settings, MatrixColumns(vectors), context);
  trained.model.pooling = recipe;
  for (const FailedImage& failed : pooled.failed) {
    trained.summary.skipped.push_back(features.name(failed.image));
  }
  return trained;
}

}  // namespace

Trained<HashModel> TrainOnFeatures(Env& env, const FeatureTraining& training,
                                   const FeatureSet& features, const RunContext& context) {
  const Stopwatch watch;
  Trained<HashModel> trained = training.settings.method == "sah"
                                   ? Sah(env, training, features, context)
                                   : OnPooledVectors(training, features, context);
  // A training that was interrupted keeps its checkpoint.
  const fs::path checkpoint = Beside(training.output, ".checkpoint");
  if (!trained.summary.interrupted && env.Exists(checkpoint)) env.Remove(checkpoint);
  trained.summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
