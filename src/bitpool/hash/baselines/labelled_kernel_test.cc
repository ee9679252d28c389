#include "bitpool/hash/baselines/labelled_kernel.h"

#include <gtest/gtest.h>

#include <set>

#include "bitpool/hash/baselines/pairwise_testing.h"
#include "bitpool/hash/baselines/supervised_testing.h"

namespace bitpool {
namespace {

LabelledKernel Prepare(const MatrixF& data, const Labels& labels, Index samples,
                       uint64_t seed = 1) {
  return PrepareLabelledKernel({.anchors = 12}, samples, MatrixColumns(data), labels,
                               RunContext({.seed = seed}));
}

// k(x) − mean of all columns, by the kernel that was drawn.
MatrixD Centred(const LabelledKernel& prepared, const MatrixF& data) {
  const MatrixD values = prepared.kernel.Columns(data).cast<double>();
  const VectorD mean = values.rowwise().mean();
  return values.colwise() - mean;
}

// The columns of `all` that the columns of `some` are.
std::vector<Index> Find(const MatrixD& some, const MatrixD& all) {
  std::vector<Index> found;
  for (Index i = 0; i < some.cols(); ++i) {
    Index nearest = 0;
    const double distance = (all.colwise() - some.col(i)).colwise().norm().minCoeff(&nearest);
    EXPECT_LT(distance, 1e-5);
    found.push_back(nearest);
  }
  return found;
}

TEST(LabelledKernel, ComparesAllThatHaveAClass) {
  const MatrixF data = MakeClusters(6, 2500, 9, 1, 4);
  const Labels labels = UnevenLabels(2500);
  std::vector<Index> labelled;
  for (Index i = 0; i < labels.size(); ++i) {
    if (!labels.of(i).empty()) labelled.push_back(i);
  }
  ASSERT_LT(labelled.size(), 2500U);
  for (const Index samples : {Index{0}, static_cast<Index>(labelled.size()), Index{9000}}) {
    const LabelledKernel prepared = Prepare(data, labels, samples);
    const MatrixD centred = Centred(prepared, data);
    ASSERT_EQ(prepared.features.cols(), static_cast<Index>(labelled.size()));
    ASSERT_EQ(prepared.pairs.size(), static_cast<Index>(labelled.size()));
    for (size_t i = 0; i < labelled.size(); ++i) {
      EXPECT_LT((prepared.features.col(static_cast<Index>(i)) - centred.col(labelled[i])).norm(),
                1e-5);
    }
  }
}

TEST(LabelledKernel, DrawsSomeThatHaveAClass) {
  const MatrixF data = MakeClusters(6, 300, 9, 1);
  const Labels labels = UnevenLabels(300);
  std::vector<std::vector<Index>> drawn;
  for (const uint64_t seed : {1, 1, 2}) {
    const LabelledKernel prepared = Prepare(data, labels, 40, seed);
    drawn.push_back(Find(prepared.features, Centred(prepared, data)));
    const std::vector<Index>& mine = drawn.back();
    EXPECT_EQ(std::set<Index>(mine.begin(), mine.end()).size(), 40U);
    const MatrixD similarity = DenseSimilarity(labels.Select(mine));
    const VectorD ones = VectorD::Ones(40);
    EXPECT_EQ(prepared.pairs.Multiply(ones), similarity * ones);
    for (const Index i : mine) EXPECT_FALSE(labels.of(i).empty());
  }
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_NE(drawn[0], drawn[2]);
}

TEST(LabelledKernel, EncoderIsCentred) {
  const MatrixF data = MakeClusters(6, 300, 9, 1, 10);
  const LabelledKernel prepared = Prepare(data, ClusterLabels(300, 9), 0);
  const MatrixD weights = Random(3).NormalMatrix(5, 12).cast<double>();
  const MatrixD projected = prepared.MakeEncoder(weights)->Project(data).cast<double>();
  EXPECT_LT((projected - weights * Centred(prepared, data)).norm(), 1e-4);
  EXPECT_LT((projected - weights * prepared.features).norm(), 1e-4);
}

}  // namespace
}  // namespace bitpool
