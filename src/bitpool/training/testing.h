#pragma once

#include <fmt/format.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/labels.h"

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

// Pictures and their views: non-negative descriptors around a few directions of the picture. The
// images in `empty` have none.
inline MemoryFeatureSet SmallViews(Index pictures, Index dimension, Index per_picture,
                                   uint64_t seed, const std::set<Index>& empty = {}) {
  Random random(seed);
  MemoryFeatureSet set(dimension, per_picture);
  for (Index picture = 0; picture < pictures; ++picture) {
    const MatrixF directions = random.NormalMatrix(dimension, 4);
    for (Index i = 0; i < per_picture; ++i) {
      const auto count = static_cast<Index>(8 + random.Below(20));
      MatrixF descriptors = 0.2F * random.NormalMatrix(dimension, count);
      for (Index j = 0; j < count; ++j) descriptors.col(j) += directions.col(j % 4);
      if (empty.contains(set.size())) descriptors.resize(dimension, 0);
      set.Add(fmt::format("picture{}#{}", picture, i), descriptors.cwiseMax(0.01F));
    }
  }
  return set;
}

// The first pictures of a set, each with views in which its descriptors have changed a little.
inline MemoryFeatureSet WithSmallChanges(const FeatureSet& set, Index pictures, Index views) {
  MemoryFeatureSet images(set.dimension(), 1 + views);
  Random random(7);
  MatrixF descriptors;
  for (Index picture = 0; picture < pictures; ++picture) {
    set.Read(picture, descriptors);
    images.Add(set.name(picture), descriptors);
    for (Index view = 1; view <= views; ++view) {
      images.Add(fmt::format("{}#{}", set.name(picture), view),
                 descriptors + 0.2F * random.NormalMatrix(descriptors.rows(), descriptors.cols()));
    }
  }
  return images;
}

// A class for each of this many items: item i has class i % scenes % classes, where SmallScenes
// shows scene i % scenes.
inline Labels SceneClasses(Index items, Index scenes, Index classes) {
  std::vector<int32_t> of;
  for (Index i = 0; i < items; ++i) of.push_back(static_cast<int32_t>(i % scenes % classes));
  return Labels::Single(of);
}

// Vectors whose class, i % classes of vector i, is in one of the directions with less variance.
inline MatrixF ClassVectors(Index dimension, Index count, Index classes, uint64_t seed) {
  MatrixF x = Random(seed).NormalMatrix(dimension, count);
  x.row(0) *= 6;
  for (Index i = 0; i < count; ++i) x(1 + i % classes, i) += 6;
  return x;
}

// Another set, and how often each of its images was read.
class CountingFeatureSet : public FeatureSet {
 public:
  explicit CountingFeatureSet(const FeatureSet& set)
      : set_(set), reads_(static_cast<size_t>(set.size())) {}

  Index size() const override { return set_.size(); }
  Index dimension() const override { return set_.dimension(); }
  Index images_per_picture() const override { return set_.images_per_picture(); }
  std::string name(Index image) const override { return set_.name(image); }
  Index descriptor_count(Index image) const override { return set_.descriptor_count(image); }
  void Read(Index image, MatrixF& descriptors) const override {
    ++reads_.at(static_cast<size_t>(image));
    set_.Read(image, descriptors);
  }

  int reads(Index image) const { return reads_.at(static_cast<size_t>(image)); }

 private:
  const FeatureSet& set_;
  mutable std::vector<std::atomic<int>> reads_;
};

}  // namespace bitpool
