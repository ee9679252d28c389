#pragma once

#include <fmt/format.h>

#include "bitpool/base/random.h"
#include "bitpool/dataset/feature_set.h"

// Shared by the tests of this room.
namespace bitpool {

// Images of a few scenes: non-negative descriptors around a few directions of the image's scene.
// Image i shows scene i % scenes.
inline MemoryFeatureSet SmallScenes(Index images, Index dimension, Index scenes, uint64_t seed) {
  Random random(seed);
  std::vector<MatrixF> directions;
  for (Index scene = 0; scene < scenes; ++scene) {
    directions.push_back(Random(1000 + static_cast<uint64_t>(scene)).NormalMatrix(dimension, 4));
  }
  MemoryFeatureSet set(dimension);
  for (Index image = 0; image < images; ++image) {
    const auto count = static_cast<Index>(6 + random.Below(20));
    MatrixF descriptors = 0.4F * random.NormalMatrix(dimension, count);
    for (Index i = 0; i < count; ++i) {
      descriptors.col(i) +=
          directions[static_cast<size_t>(image % scenes)].col(static_cast<Index>(random.Below(4)));
    }
    set.Add(fmt::format("image{}", image), descriptors.cwiseMax(0.01F));
  }
  return set;
}

}  // namespace bitpool
