#pragma once

#include <limits>
#include <set>
#include <string>

#include "bitpool/pool/testing.h"
#include "bitpool/samples/feature_set.h"

// Shared by the tests that pool images.
namespace bitpool {

// Images of many and of few descriptors in turn, so that records of both kinds occur, each with a
// mean of its own. Image i has the name "image i".
inline MemoryFeatureSet RectifiedImages(Index dimension, Index count, uint64_t seed) {
  MemoryFeatureSet images(dimension);
  for (Index i = 0; i < count; ++i) {
    const Index descriptors = i % 2 == 0 ? 2 * dimension + i % 7 : 1 + i % (dimension / 2);
    images.Add("image " + std::to_string(i),
               RectifiedFeatures(dimension, descriptors, seed + static_cast<uint64_t>(i)));
  }
  return images;
}

inline MatrixF DescriptorsOf(const FeatureSet& features, Index image) {
  MatrixF descriptors;
  features.Read(image, descriptors);
  return descriptors;
}

// The same images with all descriptors multiplied by a number.
inline MemoryFeatureSet ScaledImages(const FeatureSet& features, float scale) {
  MemoryFeatureSet scaled(features.dimension());
  for (Index i = 0; i < features.size(); ++i) {
    scaled.Add(features.name(i), scale * DescriptorsOf(features, i));
  }
  return scaled;
}

// Images some of which have a NaN, or no descriptors.
class FaultyFeatures : public FeatureSet {
 public:
  FaultyFeatures(const FeatureSet& good, std::set<Index> nan, std::set<Index> empty)
      : good_(good), nan_(std::move(nan)), empty_(std::move(empty)) {}

  Index size() const override { return good_.size(); }
  Index dimension() const override { return good_.dimension(); }
  std::string name(Index image) const override { return good_.name(image); }
  Index descriptor_count(Index image) const override {
    return empty_.contains(image) ? 0 : good_.descriptor_count(image);
  }
  void Read(Index image, MatrixF& descriptors) const override {
    good_.Read(image, descriptors);
    if (empty_.contains(image)) descriptors.resize(dimension(), 0);
    if (nan_.contains(image)) {
      descriptors(dimension() - 1, descriptors.cols() - 1) =
          std::numeric_limits<float>::quiet_NaN();
    }
  }

 private:
  const FeatureSet& good_;
  std::set<Index> nan_, empty_;
};

}  // namespace bitpool
