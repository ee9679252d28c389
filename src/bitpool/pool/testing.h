#pragma once

#include <cmath>

#include "bitpool/base/random.h"
#include "bitpool/linalg/ridge.h"

// Shared by the tests of this room.
namespace bitpool {

// Unit columns that are not negative, half of them zero, with a strong mean: as after a rectifier.
inline MatrixF RectifiedFeatures(Index dimension, Index count, uint64_t seed) {
  Random random(seed);
  const VectorF mean = 0.6F * random.NormalMatrix(dimension, 1);
  MatrixF features = random.NormalMatrix(dimension, count);
  features.colwise() += mean;
  features.row(0) = features.row(0).cwiseAbs();  // no column is zero
  features = features.cwiseMax(0.0F);
  features.colwise().normalize();
  return features;
}

inline LinearMap RandomMap(Index outputs, Index inputs, uint64_t seed) {
  Random random(seed);
  const float scale = 0.7F / std::sqrt(static_cast<float>(inputs));
  return {.weights = scale * random.NormalMatrix(outputs, inputs),
          .bias = random.NormalMatrix(outputs, 1)};
}

}  // namespace bitpool
