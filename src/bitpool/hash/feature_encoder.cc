#include "bitpool/hash/feature_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "bitpool/base/error.h"
#include "bitpool/pool/coupling.h"
#include "bitpool/pool/simple_pooling.h"

namespace bitpool {
namespace {

constexpr size_t kImagesPerTask = 8;

}  // namespace

PooledImages PoolImages(const Pooling& pooling, bool normalise, const FeatureSet& features,
                        const RunContext& context) {
  PooledImages pooled;
  pooled.vectors.setZero(features.dimension(), features.size());
  std::mutex mutex;  // of pooled.failed
  const auto count = static_cast<size_t>(features.size());
  Progress progress = context.StartProgress("pooling", "images", count);
  context.ParallelFor(count, kImagesPerTask, [&](size_t begin, size_t end) {
    MatrixF descriptors;
    for (auto image = static_cast<Index>(begin); image < static_cast<Index>(end); ++image) {
      features.Read(image, descriptors);
      try {
        if (normalise && descriptors.cols() > 0) NormaliseColumns(descriptors);
        pooled.vectors.col(image) = pooling(descriptors);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kInvalidArgument) throw;
        const std::lock_guard lock(mutex);
        pooled.failed.push_back({.image = image, .reason = error.what()});
      }
    }
    progress.Advance(end - begin);
  });
  std::ranges::sort(pooled.failed, {}, &FailedImage::image);
  return pooled;
}

PooledImages PoolImages(const PoolingSystem& system, bool normalise, const FeatureSet& features,
                        const RunContext& context) {
  if (features.dimension() != system.dimension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("local features of dimension {}; expected {}", features.dimension(),
                            system.dimension()));
  }
  return PoolImages([&](const MatrixFRef& descriptors) { return system.Pool(descriptors); },
                    normalise, features, context);
}

PoolingSystem PoolingOf(const HashModel& model) {
  if (!model.pooling) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a model of {} takes vectors, not local features", model.method));
  }
  const PoolingRecipe& recipe = *model.pooling;
  if (recipe.gamma == 0) return {Coupling::None(model.dimension()), {.mu = recipe.mu}};
  const auto* encoder = dynamic_cast<const LinearEncoder*>(model.encoder.get());
  if (encoder == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "coupled pooling needs a linear encoder");
  }
  return {Coupling::Autoencoder(encoder->map(), model.decoder),
          {.mu = recipe.mu, .gamma = recipe.gamma}};
}

EncodedImages EncodeImages(const HashModel& model, const FeatureSet& features,
                           const RunContext& context) {
  const PoolingSystem system = PoolingOf(model);
  PooledImages pooled = PoolImages(system, model.pooling->normalise, features, context);
  const BinaryCodes codes =
      EncodeAll(*model.encoder, MatrixColumns(pooled.vectors), context.WithoutProgress());
  std::vector<uint8_t> rows(codes.rows().begin(), codes.rows().end());
  for (const FailedImage& failed : pooled.failed) {
    std::fill_n(rows.begin() + failed.image * static_cast<Index>(codes.bytes_per_code()),
                codes.bytes_per_code(), uint8_t{0});
  }
  return {.codes = BinaryCodes(codes.bits(), std::move(rows)), .failed = std::move(pooled.failed)};
}

}  // namespace bitpool
