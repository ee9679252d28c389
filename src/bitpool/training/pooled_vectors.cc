#include "bitpool/training/pooled_vectors.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/pool/coupling.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/view_stage.h"

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

RecordTrainer::RecordTrainer(const RecordStore& records, const Labels* labels,
                             const FeatureSet* views, bool normalise)
    : records_(records),
      labels_(labels),
      views_(views),
      pooled_(PooledVectors::OfRecords(records)) {
  if (views != nullptr) pooled_views_ = PooledVectors::OfImages(*views, normalise);
}

const MatrixF& RecordTrainer::VectorsFor(const MethodSettings& settings,
                                         const RunContext& context) {
  const double mu = PooledBy(settings).mu;
  if (!UsesViews(settings)) return pooled_.With(mu, context);
  if (!pooled_views_) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} with whitening: expected pictures with views", settings.method));
  }
  return pooled_views_->With(mu, context);
}

void RecordTrainer::Prepare(const MethodSettings& settings, const RunContext& context) {
  if (FindMethod(settings.method).learns_from == LearnsFrom::kLocalFeatures &&
      !UsesViews(settings)) {
    return;
  }
  VectorsFor(settings, context);
}

HashModel RecordTrainer::Train(const MethodSettings& settings, const RunContext& context) {
  const Method& method = FindMethod(settings.method);
  const Labels* labels = method.needs_labels ? labels_ : nullptr;
  if (method.learns_from == LearnsFrom::kLocalFeatures) {
    std::optional<ViewWhitening> whitening;
    if (UsesViews(settings)) {
      const MatrixColumns images(VectorsFor(settings, context));
      whitening = WhiteningFor(
          settings, {.vectors = images, .per_picture = views_->images_per_picture()}, context);
    }
    return TrainOnRecords(settings,
                          {.records = records_,
                           .labels = labels,
                           .whitening = whitening ? &*whitening : nullptr},
                          context)
        .model;
  }
  const MatrixColumns vectors(VectorsFor(settings, context));
  const Index per_picture = UsesViews(settings) ? views_->images_per_picture() : 1;
  HashModel model =
      TrainOnVectors(settings, {.vectors = vectors, .labels = labels, .per_picture = per_picture},
                     context)
          .model;
  model.pooling = PooledBy(settings);
  return model;
}

}  // namespace bitpool
