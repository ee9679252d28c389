#include "bitpool/hash/baselines/reconstructive_codes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bitpool/hash/baselines/pairwise_testing.h"

namespace bitpool {
namespace {

// Mean of (d − distance)² by plain loops over the pairs.
double SlowLoss(const MatrixF& features, const MatrixF& weights, const Labels& labels) {
  const MatrixD h = weights.cast<double>() * features.transpose().cast<double>();
  double sum = 0;
  for (Index i = 0; i < labels.size(); ++i) {
    for (Index j = 0; j < labels.size(); ++j) {
      double distance = 0;
      for (Index bit = 0; bit < h.rows(); ++bit) {
        distance += (h(bit, i) >= 0) != (h(bit, j) >= 0) ? 1 : 0;
      }
      const double wanted = ShareClass(labels.of(i), labels.of(j)) ? 0 : 1;
      const double rest = wanted - distance / static_cast<double>(h.rows());
      sum += rest * rest;
    }
  }
  return sum / static_cast<double>(labels.size() * labels.size());
}

// The smallest loss over a weight: a try between every two of its breakpoints and beyond them.
double SlowBest(const MatrixF& features, MatrixF weights, const Labels& labels, Index bit,
                Index anchor) {
  const VectorD h = features.cast<double>() * weights.row(bit).transpose().cast<double>();
  const auto weight = static_cast<double>(weights(bit, anchor));
  std::vector<double> breaks;
  for (Index i = 0; i < features.rows(); ++i) {
    const auto feature = static_cast<double>(features(i, anchor));
    if (feature != 0) breaks.push_back(weight - h[i] / feature);
  }
  double best = SlowLoss(features, weights, labels);
  if (breaks.empty()) return best;
  std::sort(breaks.begin(), breaks.end());
  std::vector<double> tries = {breaks.front() - 1, breaks.back() + 1};
  for (size_t i = 1; i < breaks.size(); ++i) {
    // A breakpoint itself, where samples are at zero, is not an interval.
    if (breaks[i] - breaks[i - 1] > 1e-9) tries.push_back((breaks[i - 1] + breaks[i]) / 2);
  }
  for (const double value : tries) {
    weights(bit, anchor) = static_cast<float>(value);
    best = std::min(best, SlowLoss(features, weights, labels));
  }
  return best;
}

void ExpectExactSteps(const Labels& labels, const MatrixF& features, Index bits, uint64_t seed) {
  Random random(seed);
  const PairwiseLabels pairs(labels);
  ReconstructiveCodes codes(features, pairs, random.NormalMatrix(bits, features.cols()));
  int improved = 0;
  for (int step = 0; step < 25; ++step) {
    const auto bit = static_cast<Index>(random.Below(static_cast<uint64_t>(bits)));
    const auto anchor = static_cast<Index>(random.Below(static_cast<uint64_t>(features.cols())));
    const double before = codes.Loss();
    EXPECT_NEAR(before, SlowLoss(features, codes.weights(), labels), 1e-12);
    const double best = SlowBest(features, codes.weights(), labels, bit, anchor);
    const MatrixF weights = codes.weights();
    codes.ImproveWeight(bit, anchor);
    EXPECT_LE(codes.Loss(), before);
    EXPECT_NEAR(codes.Loss(), best, 1e-12) << step;
    // No other weight changes, and this one only for the better.
    const Index changed = (codes.weights().array() != weights.array()).count();
    EXPECT_EQ(changed, codes.Loss() < before ? 1 : 0);
    EXPECT_EQ(changed, codes.weights()(bit, anchor) != weights(bit, anchor) ? 1 : 0);
    improved += static_cast<int>(changed);
  }
  EXPECT_GT(improved, 2);
  // The codes are those of the weights.
  const MatrixD h = features.cast<double>() * codes.weights().transpose().cast<double>();
  for (Index i = 0; i < features.rows(); ++i) {
    for (Index bit = 0; bit < bits; ++bit) {
      EXPECT_EQ(codes.signs()(bit, i), h(i, bit) >= 0 ? 1.0F : -1.0F);
    }
  }
}

Labels SomeClasses(Index count) {
  std::vector<int32_t> classes;
  for (Index i = 0; i < count; ++i) classes.push_back(static_cast<int32_t>(i * i % 5));
  return Labels::Single(classes);
}

TEST(ReconstructiveCodes, EveryStepIsTheBestOfAll) {
  const Labels single = SomeClasses(40);
  ExpectExactSteps(single, ClassFeatures(6, single, 1).transpose(), 4, 2);
  const Labels multi = RandomLabels(35, 6, 3);
  ExpectExactSteps(multi, ClassFeatures(5, multi, 4).transpose(), 7, 5);
  ExpectExactSteps(multi, ClassFeatures(5, multi, 6).transpose(), 1, 7);
}

// Samples in the same place cross zero together.
TEST(ReconstructiveCodes, EqualSamples) {
  const Labels labels = SomeClasses(40);
  MatrixF features = ClassFeatures(6, labels, 8).transpose();
  for (Index i = 0; i < 20; ++i) features.row(20 + i) = features.row(i);
  ExpectExactSteps(labels, features, 4, 9);
}

TEST(ReconstructiveCodes, FeaturesOfZeroChangeNothing) {
  const Labels labels = SomeClasses(30);
  const PairwiseLabels pairs(labels);
  MatrixF features = ClassFeatures(3, labels, 10).transpose();
  features.col(1).setZero();
  const MatrixF weights = Random(11).NormalMatrix(4, 3);
  ReconstructiveCodes codes(features, pairs, weights);
  for (Index bit = 0; bit < 4; ++bit) codes.ImproveWeight(bit, 1);
  EXPECT_EQ(codes.weights(), weights);
  features.col(0).head(15).setZero();
  ExpectExactSteps(labels, features, 4, 12);
}

}  // namespace
}  // namespace bitpool
