#pragma once

#include <cmath>

#include "bitpool/base/random.h"

// Shared by the tests that learn from views.
namespace bitpool {

// Vectors of pictures and their views, one after the other, away from the origin. Pictures differ
// by one in all dimensions, views by `nuisance` in `strong` random directions, the same for all,
// and by a tenth in every dimension.
inline MatrixF ViewSamples(Index dimension, Index pictures, Index per_picture, uint64_t seed,
                           Index strong = 2, float nuisance = 3) {
  Random random(seed);
  const MatrixF basis =
      Random(99).NormalMatrix(dimension, strong) / std::sqrt(static_cast<float>(dimension));
  MatrixF images(dimension, pictures * per_picture);
  for (Index picture = 0; picture < pictures; ++picture) {
    const MatrixF own = random.NormalMatrix(dimension, 1);
    for (Index i = 0; i < per_picture; ++i) {
      const MatrixF moved = nuisance * random.NormalMatrix(strong, 1);
      const MatrixF noise = 0.1F * random.NormalMatrix(dimension, 1);
      images.col(picture * per_picture + i) = own + basis * moved + noise;
    }
  }
  images.array() += 5;
  return images;
}

}  // namespace bitpool
