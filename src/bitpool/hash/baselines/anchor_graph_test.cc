#include "bitpool/hash/baselines/anchor_graph.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "bitpool/hash/baselines/testing.h"

namespace bitpool {
namespace {

// Samples 1 and 2 share the first anchor, 2 and 3 the second.
AnchorGraph SmallGraph() {
  const Eigen::MatrixXi nearest = (Eigen::MatrixXi(2, 3) << 0, 0, 1, 1, 1, 0).finished();
  const MatrixD shares = (MatrixD(2, 3) << 1, 0.5, 1, 0, 0.5, 0).finished();
  return {2, nearest, shares};
}

TEST(AnchorGraph, ByHand) {
  // Z = {1 0; ½ ½; 0 1}, Λ = {1.5, 1.5}, so S = ⅔ {1 ½ 0; ½ ½ ½; 0 ½ 1}.
  const MatrixD s = (MatrixD(3, 3) << 1, 0.5, 0, 0.5, 0.5, 0.5, 0, 0.5, 1).finished() / 1.5;
  const MatrixD b = (MatrixD(2, 3) << 1, -2, 3, 0, 1, 5).finished();
  const MatrixD expected = b - b * s;
  EXPECT_LT((SmallGraph().TimesLaplacian(b, RunContext()) - expected).norm(), 1e-12);
}

TEST(AnchorGraph, RowsAddUpAndEigenvaluesAreNotNegative) {
  const MatrixF x = MakeClusters(6, 200, 5, 1);
  const AnchorGraph graph({.anchors = 20}, MatrixColumns(x), RunContext());
  const MatrixD laplacian = graph.TimesLaplacian(MatrixD::Identity(200, 200), RunContext());
  EXPECT_LT((laplacian - laplacian.transpose()).norm(), 1e-12);
  EXPECT_LT(laplacian.rowwise().sum().norm(), 1e-10);
  EXPECT_GE(laplacian.trace(), 0);
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatrixD>(laplacian).eigenvalues().minCoeff(), -1e-10);
  // Samples of one cluster are far more alike than others.
  double same = 0, other = 0;
  for (Index i = 0; i < 200; ++i) {
    for (Index j = 0; j < i; ++j) (i % 5 == j % 5 ? same : other) -= laplacian(i, j);
  }
  EXPECT_GT(same, 4 * other);
}

TEST(AnchorGraph, IsTheSameAtAnyNumberOfThreads) {
  const MatrixF x = MakeClusters(6, 20'000, 5, 1);
  const MatrixD b = MakeClusters(3, 20'000, 5, 2).cast<double>();
  const auto product = [&](int threads) -> MatrixD {
    const RunContext context({.threads = threads});
    return AnchorGraph({.anchors = 30}, MatrixColumns(x), context).TimesLaplacian(b, context);
  };
  EXPECT_EQ(product(1), product(4));
}

TEST(AnchorGraph, TakesFewAndEqualSamples) {
  const MatrixF same = MatrixF::Constant(3, 10, 2);
  const MatrixD b = MatrixD::Random(2, 10);
  EXPECT_TRUE(AnchorGraph({}, MatrixColumns(same), RunContext())
                  .TimesLaplacian(b, RunContext())
                  .allFinite());
  EXPECT_THROW(AnchorGraphOptions{.anchors = 1}.Validate(), Error);
  EXPECT_THROW(AnchorGraphOptions{.nearest = 0}.Validate(), Error);
}

}  // namespace
}  // namespace bitpool
