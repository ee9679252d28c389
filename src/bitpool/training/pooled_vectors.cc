#include "bitpool/training/pooled_vectors.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/pool/coupling.h"
#include "bitpool/training/methods.h"

namespace bitpool {

PoolingRecipe PooledBy(const MethodSettings& settings) {
  return {
      .normalise = ValueOf(settings, "normalise") != 0, .mu = ValueOf(settings, "mu"), .gamma = 0};
}

PooledVectors PooledVectors::OfRecords(const RecordStore& records) {
  return PooledVectors([&records](double mu, const RunContext& context) {
    return PoolRecords(records, {Coupling::None(records.dimension()), {.mu = mu}}, context);
  });
}

PooledVectors PooledVectors::OfImages(const FeatureSet& images, bool normalise) {
  return PooledVectors([&images, normalise](double mu, const RunContext& context) {
    PooledImages pooled =
        PoolImages({Coupling::None(images.dimension()), {.mu = mu}}, normalise, images, context);
    if (!pooled.failed.empty()) {
      const FailedImage& failed = pooled.failed.front();
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{}: {}", images.name(failed.image), failed.reason));
    }
    return std::move(pooled.vectors);
  });
}

const MatrixF& PooledVectors::With(double mu, const RunContext& context) {
  MatrixF& vectors = by_mu_[mu];
  if (vectors.size() == 0) vectors = make_(mu, context);
  return vectors;
}

void RecordTrainer::Prepare(const MethodSettings& settings, const RunContext& context) {
  if (FindMethod(settings.method).learns_from == LearnsFrom::kLocalFeatures) return;
  pooled_.With(PooledBy(settings).mu, context);
}

HashModel RecordTrainer::Train(const MethodSettings& settings, const RunContext& context) {
  const Method& method = FindMethod(settings.method);
  const Labels* labels = method.needs_labels ? labels_ : nullptr;
  if (method.learns_from == LearnsFrom::kLocalFeatures) {
    return TrainOnRecords(settings, {.records = records_, .labels = labels}, context).model;
  }
  const PoolingRecipe recipe = PooledBy(settings);
  const MatrixColumns vectors(pooled_.With(recipe.mu, context));
  HashModel model = TrainOnVectors(settings, {.vectors = vectors, .labels = labels}, context).model;
  model.pooling = recipe;
  return model;
}

}  // namespace bitpool
