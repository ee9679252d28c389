#include "bitpool/training/feature_training.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/sash.h"
#include "bitpool/io/checksum.h"
#include "bitpool/pool/coupling.h"
#include "bitpool/training/checkpoint_file.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/pooled_vectors.h"
#include "bitpool/training/record_file.h"
#include "bitpool/training/view_stage.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

fs::path Beside(const fs::path& output, const char* suffix) {
  fs::path path = output;
  path += suffix;
  return path;
}

std::string DigestOf(const Labels& labels) {
  std::vector<int32_t> classes;
  for (Index item = 0; item < labels.size(); ++item) {
    const auto of = labels.of(item);
    classes.insert(classes.end(), of.begin(), of.end());
    classes.push_back(-1);  // the end of the item
  }
  return ContentDigest(std::as_bytes(std::span(classes)));
}

// Of the descriptors of a few images, spread over all of them: enough to tell whether the features
// were made again in another way.
std::string DigestOf(const FeatureSet& features) {
  constexpr Index kMostImages = 16;
  const Index count = std::min(kMostImages, features.size());
  std::string digests;
  MatrixF descriptors;
  for (Index i = 0; i < count; ++i) {
    features.Read(i * features.size() / count, descriptors);
    digests += ContentDigest(
        std::as_bytes(std::span(descriptors.data(), static_cast<size_t>(descriptors.size()))));
  }
  return ContentDigest(std::as_bytes(std::span(digests)));
}

// What a checkpoint belongs to.
nlohmann::json JobOf(const FeatureTraining& training, const FeatureSet& features, uint64_t seed) {
  Index descriptors = 0;
  for (Index image = 0; image < features.size(); ++image) {
    descriptors += features.descriptor_count(image);
  }
  nlohmann::json job = DescribeSettings(training.settings, seed);
  job.erase("iterations");  // continuing for longer is the same job
  job["images"] = features.size();
  job["dimension"] = features.dimension();
  job["descriptors"] = descriptors;
  job["content"] = DigestOf(features);
  if (training.labels != nullptr) job["labels"] = DigestOf(*training.labels);
  return job;
}

// A method of local features, from records of the images.
Trained<HashModel> OnRecords(Env& env, const FeatureTraining& training, const FeatureSet& features,
                             const nlohmann::json& job, const ViewWhitening* whitening,
                             const RunContext& context) {
  const fs::path checkpoint = Beside(training.output, ".checkpoint");
  JointRun run;
  if (training.resume && env.Exists(checkpoint)) run.resume = LoadCheckpoint(env, checkpoint, job);
  run.observer = [&](const JointState& state) { SaveCheckpoint(env, checkpoint, state, job); };
  std::optional<Labels> labels;
  if (training.labels != nullptr) labels = LabelsOfRecords(features, *training.labels);
  const bool normalise = ValueOf(training.settings, "normalise") != 0;
  const auto records = MakeRecordStore(env, features, PrecisionFor(normalise), training.memory,
                                       Beside(training.output, ".records"));
  std::vector<std::string> skipped = ReduceImages(features, normalise, *records, context);
  Trained<HashModel> trained = TrainOnRecords(training.settings,
                                              {.records = *records,
                                               .labels = labels ? &*labels : nullptr,
                                               .run = std::move(run),
                                               .whitening = whitening},
                                              context);
  trained.summary.skipped = std::move(skipped);
  return trained;
}

// What a method of local features learns from views.
std::optional<ViewWhitening> LearnMetric(const MethodSettings& settings, const FeatureSet& features,
                                         const RunContext& context) {
  if (!UsesViews(settings)) return std::nullopt;
  const PooledPictures pooled = PoolPictures(PooledBy(settings), features, context);
  const MatrixColumns columns(pooled.vectors);
  return WhiteningFor(settings, {.vectors = columns, .per_picture = pooled.per_picture}, context);
}

// The contrast of views, which writes checkpoints.
ContrastRun RunOfContrast(Env& env, const FeatureTraining& training, const FeatureSet& features,
                          uint64_t seed) {
  if (!FindMethod(training.settings.method).has_contrast) return {};
  const fs::path checkpoint = Beside(training.output, ".checkpoint");
  const nlohmann::json job = JobOf(training, features, seed);
  ContrastRun run;
  if (training.resume && env.Exists(checkpoint)) {
    run.resume = LoadContrastCheckpoint(env, checkpoint, job);
  }
  run.observer = [&env, checkpoint, job](const ContrastState& state) {
    SaveCheckpoint(env, checkpoint, state, job);
  };
  return run;
}

Trained<HashModel> OnPooledVectors(Env& env, const FeatureTraining& training,
                                   const FeatureSet& features, const RunContext& context) {
  // This comes first, since the checkpoint may be that of another job.
  ContrastRun run = RunOfContrast(env, training, features, context.seed());
  const PoolingRecipe recipe = RecipeFor(training.settings, features, context);
  PooledPictures pooled = PoolPictures(recipe, features, context);
  std::optional<Labels> labels;
  if (training.labels != nullptr) labels = training.labels->Select(pooled.pictures);
  const MatrixColumns source(pooled.vectors);
  Trained<HashModel> trained = TrainOnVectors(training.settings,
                                              {.vectors = source,
                                               .labels = labels ? &*labels : nullptr,
                                               .per_picture = pooled.per_picture,
                                               .run = std::move(run)},
                                              context);
  trained.model.pooling = recipe;
  trained.summary.skipped = std::move(pooled.skipped);
  return trained;
}

}  // namespace

Trained<HashModel> TrainOnFeatures(Env& env, const FeatureTraining& training,
                                   const FeatureSet& features, const RunContext& context) {
  const Stopwatch watch;
  const Method& method = FindMethod(training.settings.method);
  RequireLabels(method, training.labels, features.pictures());
  RequireValid(training.settings);
  const FeatureSubset pictures = FeatureSubset::WithoutViews(features);
  const auto train = [&] {
    if (method.learns_from == LearnsFrom::kLocalFeatures) {
      const auto metric = LearnMetric(training.settings, features, context);
      // The views belong to the job too, since the metric comes from them.
      const nlohmann::json job = JobOf(training, metric ? features : pictures, context.seed());
      return OnRecords(env, training, pictures, job, metric ? &*metric : nullptr, context);
    }
    const bool views = TakesViews(training.settings);
    return OnPooledVectors(env, training, views ? features : pictures, context);
  };
  Trained<HashModel> trained = train();
  trained.summary.seconds = watch.seconds();
  return trained;
}

void RemoveCheckpoint(Env& env, const fs::path& output) {
  const fs::path checkpoint = Beside(output, ".checkpoint");
  if (env.Exists(checkpoint)) env.Remove(checkpoint);
}

}  // namespace bitpool
