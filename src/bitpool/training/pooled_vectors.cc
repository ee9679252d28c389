#include "bitpool/training/pooled_vectors.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/pool/coupling.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/view_stage.h"

namespace bitpool {
namespace {

PoolingSystem SystemFor(const PoolingRecipe& recipe, Index dimension) {
  return {Coupling::None(dimension), {.mu = recipe.mu}, recipe.attention};
}

// The pictures none of whose images failed.
std::vector<Index> GoodPictures(const PooledImages& pooled, Index per_picture) {
  std::vector<Index> good;
  auto failed = pooled.failed.begin();
  for (Index picture = 0; picture < pooled.vectors.cols() / per_picture; ++picture) {
    const auto first = failed;
    while (failed != pooled.failed.end() && failed->image < (picture + 1) * per_picture) ++failed;
    if (failed == first) good.push_back(picture);
  }
  return good;
}

std::vector<Index> ImagesOf(const std::vector<Index>& pictures, Index per_picture) {
  std::vector<Index> images;
  for (const Index picture : pictures) {
    for (Index i = 0; i < per_picture; ++i) images.push_back(picture * per_picture + i);
  }
  return images;
}

// The vectors of images all of which must be pooled.
MatrixF AllOrNothing(PooledImages pooled, const FeatureSet& images) {
  if (pooled.failed.empty()) return std::move(pooled.vectors);
  const FailedImage& failed = pooled.failed.front();
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: {}", images.name(failed.image), failed.reason));
}

// Null where the pooling is not learned.
PoolingLearner PoolingLearnerFor(const MethodSettings& settings) {
  const Method& method = FindMethod(settings.method);
  return method.pooling_learner ? method.pooling_learner(settings) : nullptr;
}

// The pictures with those of their views that the settings want to learn from.
FeatureSubset WantedImages(const MethodSettings& settings, const FeatureSet& images) {
  const auto wanted = static_cast<Index>(ValueOf(settings, "views"));
  return FeatureSubset::WithViews(images, wanted == 0 ? images.images_per_picture() : wanted);
}

// The closed form, which a learned pooling begins with.
LinearMap ClosedForm(const MethodSettings& settings, const PooledPictures& pooled,
                     const RunContext& context) {
  MethodSettings itq{.method = "itq", .bits = settings.bits, .options = {{"whiten", 1}}};
  itq.options["epsilon"] = ValueOf(settings, "epsilon");
  const MatrixColumns vectors(pooled.vectors);
  const HashModel model =
      TrainOnVectors(itq, {.vectors = vectors, .per_picture = pooled.per_picture}, context).model;
  return dynamic_cast<const LinearEncoder&>(*model.encoder).map();
}

}  // namespace

PooledPictures PoolPictures(const PoolingRecipe& recipe, const FeatureSet& features,
                            const RunContext& context) {
  PooledImages pooled =
      PoolImages(SystemFor(recipe, features.dimension()), recipe.normalise, features, context);
  PooledPictures result;
  result.per_picture = features.images_per_picture();
  result.pictures = GoodPictures(pooled, result.per_picture);
  result.vectors =
      pooled.failed.empty()
          ? std::move(pooled.vectors)
          : MatrixF(pooled.vectors(Eigen::all, ImagesOf(result.pictures, result.per_picture)));
  for (const FailedImage& failed : pooled.failed) {
    result.skipped.push_back(features.name(failed.image));
  }
  return result;
}

PoolingRecipe RecipeFor(const MethodSettings& settings, const FeatureSet& images,
                        const RunContext& context) {
  const PoolingRecipe recipe = PooledBy(settings);
  const PoolingLearner learner = PoolingLearnerFor(settings);
  if (!learner) return recipe;
  const FeatureSubset wanted = WantedImages(settings, images);
  const LinearMap start = ClosedForm(settings, PoolPictures(recipe, wanted, context), context);
  PoolingRecipe learned = learner(recipe, start, wanted, context);
  context.ThrowIfStopped();
  return learned;
}

MatrixF VectorsFor(const HashModel& model, const RecordStore& records, const FeatureSet* images,
                   const RunContext& context) {
  const PoolingSystem system = PoolingOf(model);
  if (system.attention().size() == 0) return PoolRecords(records, system, context);
  if (images == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                "weights of descriptors: expected the images themselves, not their records");
  }
  return AllOrNothing(PoolImages(system, model.pooling->normalise, *images, context), *images);
}

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
    return AllOrNothing(
        PoolImages({Coupling::None(images.dimension()), {.mu = mu}}, normalise, images, context),
        images);
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

bool RecordTrainer::LearnsFromViews(const MethodSettings& settings) const {
  return UsesViews(settings) || (views_ != nullptr && TakesViews(settings));
}

const MatrixF& RecordTrainer::VectorsFor(const MethodSettings& settings,
                                         const RunContext& context) {
  const double mu = PooledBy(settings).mu;
  if (!LearnsFromViews(settings)) return pooled_.With(mu, context);
  if (!pooled_views_) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}{}: expected pictures with views", settings.method,
                            WhitensByViews(settings) ? " with whitening" : ""));
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
  if (PoolingLearnerFor(settings)) return TrainWithPooling(settings, context);
  const MatrixColumns vectors(VectorsFor(settings, context));
  const Index per_picture = LearnsFromViews(settings) ? views_->images_per_picture() : 1;
  HashModel model =
      TrainOnVectors(settings, {.vectors = vectors, .labels = labels, .per_picture = per_picture},
                     context)
          .model;
  model.pooling = PooledBy(settings);
  return model;
}

HashModel RecordTrainer::TrainWithPooling(const MethodSettings& settings,
                                          const RunContext& context) const {
  if (views_ == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: expected pictures with views", settings.method));
  }
  const PoolingRecipe recipe = RecipeFor(settings, *views_, context);
  const PooledPictures pooled = PoolPictures(recipe, *views_, context);
  const MatrixColumns vectors(pooled.vectors);
  HashModel model =
      TrainOnVectors(settings, {.vectors = vectors, .per_picture = pooled.per_picture}, context)
          .model;
  model.pooling = recipe;
  return model;
}

}  // namespace bitpool
