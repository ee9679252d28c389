#pragma once

#include "bitpool/base/matrix.h"
#include "bitpool/base/random.h"
#include "bitpool/samples/labels.h"

// Shared by the tests of the methods that compare labelled samples.
namespace bitpool {

// S, entry by entry.
inline MatrixD DenseSimilarity(const Labels& labels) {
  MatrixD similarity(labels.size(), labels.size());
  for (Index i = 0; i < labels.size(); ++i) {
    for (Index j = 0; j < labels.size(); ++j) {
      similarity(i, j) = ShareClass(labels.of(i), labels.of(j)) ? 1 : -1;
    }
  }
  return similarity;
}

// One to three of these classes for every item.
inline Labels RandomLabels(Index count, int32_t classes, uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<int32_t>> all(static_cast<size_t>(count));
  for (std::vector<int32_t>& mine : all) {
    const uint64_t wanted = 1 + random.Below(3);
    while (mine.size() < wanted) {
      mine.push_back(static_cast<int32_t>(random.Below(static_cast<uint64_t>(classes))));
    }
  }
  return Labels::Multi(all);
}

// Features of n samples, anchors × n, that tell the first classes of the samples apart a little.
inline MatrixF ClassFeatures(Index anchors, const Labels& labels, uint64_t seed) {
  Random random(seed);
  const MatrixF centres = random.NormalMatrix(anchors, labels.class_count());
  MatrixF features = random.NormalMatrix(anchors, labels.size());
  for (Index i = 0; i < labels.size(); ++i) features.col(i) += centres.col(labels.of(i)[0]);
  return features;
}

}  // namespace bitpool
