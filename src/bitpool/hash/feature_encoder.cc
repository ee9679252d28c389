#include "bitpool/hash/feature_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "bitpool/base/error.h"
#include "bitpool/pool/coupling.h"
#include "bitpool/pool/simple_pooling.h"

namespace bitpool {
namespace {

constexpr size_t kImagesPerTask = 8;
// Images whose vectors are kept at once while they are encoded: whole groups of EncodeBatch, so
// that the numbers are the same as for all images at once.
constexpr Index kImagesAtOnce = 8 * kEncodingGroup;

// The vectors of `count` images from image `begin`.
PooledImages PoolSome(const Pooling& pooling, bool normalise, const FeatureSet& features,
                      Index begin, Index count, const RunContext& context, Progress& progress) {
  PooledImages pooled;
  pooled.vectors.setZero(features.dimension(), count);
  std::mutex mutex;  // of pooled.failed
  context.ParallelFor(static_cast<size_t>(count), kImagesPerTask, [&](size_t from, size_t to) {
    MatrixF descriptors;
    for (auto i = static_cast<Index>(from); i < static_cast<Index>(to); ++i) {
      features.Read(begin + i, descriptors);
      try {
        if (normalise && descriptors.cols() > 0) NormaliseColumns(descriptors);
        pooled.vectors.col(i) = pooling(descriptors);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kInvalidArgument) throw;
        const std::lock_guard lock(mutex);
        pooled.failed.push_back({.image = begin + i, .reason = error.what()});
      }
    }
    progress.Advance(to - from);
  });
  std::ranges::sort(pooled.failed, {}, &FailedImage::image);
  return pooled;
}

Pooling PoolingBy(const PoolingSystem& system, const FeatureSet& features) {
  if (features.dimension() != system.dimension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("local features of dimension {}; expected {}", features.dimension(),
                            system.dimension()));
  }
  return [&system](const MatrixFRef& descriptors) { return system.Pool(descriptors); };
}

EncodedImages EncodePooled(const HashEncoder& encoder, PooledImages pooled, Index begin,
                           const RunContext& context) {
  EncodedVectors encoded =
      EncodeBatch(encoder, MatrixColumns(pooled.vectors), context.WithoutProgress());
  std::vector<uint8_t> rows(encoded.codes.rows().begin(), encoded.codes.rows().end());
  const size_t bytes = encoded.codes.bytes_per_code();
  for (const FailedImage& failed : pooled.failed) {
    const Index at = failed.image - begin;
    std::fill_n(rows.begin() + at * static_cast<Index>(bytes), bytes, uint8_t{0});
    encoded.projections.col(at).setZero();
  }
  return {.codes = BinaryCodes(encoder.bits(), std::move(rows)),
          .projections = std::move(encoded.projections),
          .failed = std::move(pooled.failed)};
}

}  // namespace

PooledImages PoolImages(const Pooling& pooling, bool normalise, const FeatureSet& features,
                        const RunContext& context) {
  Progress progress =
      context.StartProgress("pooling", "images", static_cast<uint64_t>(features.size()));
  return PoolSome(pooling, normalise, features, 0, features.size(), context, progress);
}

PooledImages PoolImages(const PoolingSystem& system, bool normalise, const FeatureSet& features,
                        const RunContext& context) {
  return PoolImages(PoolingBy(system, features), normalise, features, context);
}

PooledImages PoolImagesBy(std::string_view name, double mu, bool normalise,
                          const FeatureSet& features, const RunContext& context) {
  if (name == "gmp") {
    return PoolImages({Coupling::None(features.dimension()), {.mu = mu}}, normalise, features,
                      context);
  }
  const std::map<std::string_view, Pooling> simple = {
      {"sum", SumPooling}, {"mean", MeanPooling}, {"max", MaxPooling}};
  const auto found = simple.find(name);
  if (found == simple.end()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("pooling \"{}\": expected gmp, sum, mean or max", name));
  }
  return PoolImages(found->second, normalise, features, context);
}

PoolingSystem PoolingOf(const HashModel& model) {
  if (!model.pooling) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a model of {} takes vectors, not local features", model.method));
  }
  const PoolingRecipe& recipe = *model.pooling;
  if (recipe.gamma == 0) {
    return {Coupling::None(model.dimension()), {.mu = recipe.mu}, recipe.attention};
  }
  const auto* encoder = dynamic_cast<const LinearEncoder*>(model.encoder.get());
  if (encoder == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "coupled pooling needs a linear encoder");
  }
  return {Coupling::Autoencoder(encoder->map(), model.decoder, recipe.metric),
          {.mu = recipe.mu, .gamma = recipe.gamma},
          recipe.attention};
}

void EncodeImages(const HashModel& model, const FeatureSet& features, const RunContext& context,
                  const EncodedImagesSink& sink) {
  const PoolingSystem system = PoolingOf(model);
  const Pooling pooling = PoolingBy(system, features);
  Progress progress =
      context.StartProgress("pooling", "images", static_cast<uint64_t>(features.size()));
  for (Index first = 0; first < features.size(); first += kImagesAtOnce) {
    const Index count = std::min(kImagesAtOnce, features.size() - first);
    sink(first, EncodePooled(*model.encoder,
                             PoolSome(pooling, model.pooling->normalise, features, first, count,
                                      context, progress),
                             first, context));
  }
}

EncodedImages EncodeImages(const HashModel& model, const FeatureSet& features,
                           const RunContext& context) {
  MatrixF projections(model.bits(), features.size());
  std::vector<uint8_t> rows;
  std::vector<FailedImage> failures;
  EncodeImages(model, features, context, [&](Index first, const EncodedImages& some) {
    rows.insert(rows.end(), some.codes.rows().begin(), some.codes.rows().end());
    projections.middleCols(first, some.projections.cols()) = some.projections;
    failures.insert(failures.end(), some.failed.begin(), some.failed.end());
  });
  return {.codes = BinaryCodes(model.bits(), std::move(rows)),
          .projections = std::move(projections),
          .failed = std::move(failures)};
}

}  // namespace bitpool
