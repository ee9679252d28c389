#include "bitpool/hash/baselines/pairwise_labels.h"

#include <gtest/gtest.h>

#include "bitpool/hash/baselines/pairwise_testing.h"

namespace bitpool {
namespace {

void ExpectIsDense(const Labels& labels) {
  const PairwiseLabels pairs(labels);
  ASSERT_EQ(pairs.size(), labels.size());
  const MatrixD dense = DenseSimilarity(labels);
  const MatrixD v = Random(2).NormalMatrix(labels.size(), 3).cast<double>();
  for (Index i = 0; i < v.cols(); ++i) {
    EXPECT_LT((pairs.Multiply(v.col(i)) - dense * v.col(i)).norm(), 1e-10);
    EXPECT_NEAR(pairs.Quadratic(v.col(i)), v.col(i).dot(dense * v.col(i)), 1e-9);
  }
  for (Index i = 0; i < pairs.size(); ++i) {
    for (Index j = 0; j < pairs.size(); ++j) {
      const std::vector<int32_t>& alike = pairs.alike(pairs.set_of(i));
      const bool found = std::find(alike.begin(), alike.end(), pairs.set_of(j)) != alike.end();
      EXPECT_EQ(found, dense(i, j) > 0);
    }
  }
}

TEST(PairwiseLabels, OneClassEach) {
  const Labels labels = Labels::Single({3, 0, 3, 5, 0, 0, 9, 3});
  ExpectIsDense(labels);
  EXPECT_EQ(PairwiseLabels(labels).sets(), 4);
}

TEST(PairwiseLabels, SeveralClassesEach) {
  ExpectIsDense(RandomLabels(80, 9, 1));
  const Labels labels = Labels::Multi({{0, 1}, {1, 0}, {1}, {2, 1}, {2}, {0, 1}});
  ExpectIsDense(labels);
  EXPECT_EQ(PairwiseLabels(labels).sets(), 4);
}

TEST(PairwiseLabels, OneSample) { ExpectIsDense(Labels::Single({4})); }

}  // namespace
}  // namespace bitpool
