#include "bitpool/linalg/symmetric_eigen.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

MatrixD RandomSymmetric(Index size, uint64_t seed) {
  const MatrixD normal = Random(seed).NormalMatrix(size, size).cast<double>();
  return normal + normal.transpose();
}

void ExpectOrthonormalVectors(const MatrixD& vectors) {
  const MatrixD gram = vectors.transpose() * vectors;
  EXPECT_LT((gram - MatrixD::Identity(gram.rows(), gram.cols())).norm(), 1e-11);
}

TEST(SymmetricEigen, AgreesWithEigen) {
  // Counts on both sides of the switch between the partial and the whole solver.
  for (const Index size : {1, 2, 17, 64}) {
    const MatrixD matrix = RandomSymmetric(size, 1);
    const Eigen::SelfAdjointEigenSolver<MatrixD> reference(matrix);
    for (const Index count : {Index{0}, Index{1}, size / 8, size / 2, size}) {
      const SymmetricEigen eigen = ComputeSymmetricEigen(matrix, count);
      ASSERT_EQ(eigen.values.size(), count);
      ASSERT_EQ(eigen.vectors.cols(), count);
      ASSERT_EQ(eigen.vectors.rows(), size);
      if (count == 0) continue;
      EXPECT_LT((eigen.values - reference.eigenvalues().reverse().head(count)).norm(), 1e-11);
      const MatrixD image = eigen.vectors * eigen.values.asDiagonal();
      EXPECT_LT((matrix * eigen.vectors - image).norm(), 1e-10);
      ExpectOrthonormalVectors(eigen.vectors);
    }
  }
}

TEST(SymmetricEigen, ReadsTheLowerTriangleOnly) {
  const MatrixD matrix = RandomSymmetric(24, 2);
  MatrixD lower = matrix;
  lower.triangularView<Eigen::StrictlyUpper>().setConstant(1e9);
  for (const Index count : {2, 24}) {
    EXPECT_EQ(ComputeSymmetricEigen(lower, count).values,
              ComputeSymmetricEigen(matrix, count).values);
  }
}

TEST(SymmetricEigen, TheLargestEntryIsPositive) {
  // Both signs would occur in 40 vectors without a rule.
  const SymmetricEigen eigen = ComputeSymmetricEigen(RandomSymmetric(40, 3), 40);
  for (Index i = 0; i < 40; ++i) {
    EXPECT_EQ(eigen.vectors.col(i).maxCoeff(), eigen.vectors.col(i).cwiseAbs().maxCoeff());
  }
}

TEST(SymmetricEigen, BothSolversGiveTheSameVectors) {
  const MatrixD matrix = RandomSymmetric(48, 4);
  const SymmetricEigen whole = ComputeSymmetricEigen(matrix, 48);
  const SymmetricEigen part = ComputeSymmetricEigen(matrix, 6);
  EXPECT_LT((whole.vectors.leftCols(6) - part.vectors).norm(), 1e-10);
}

TEST(SymmetricEigen, EqualEigenvaluesStillGiveAnOrthonormalBasis) {
  for (const double value : {0.0, 3.0}) {
    for (const Index count : {2, 32}) {
      const SymmetricEigen eigen = ComputeSymmetricEigen(value * MatrixD::Identity(32, 32), count);
      EXPECT_LT((eigen.values.array() - value).abs().maxCoeff(), 1e-14);
      ExpectOrthonormalVectors(eigen.vectors);
    }
  }
}

}  // namespace
}  // namespace bitpool
