#include "bitpool/linalg/conjugate_gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <limits>

#include "bitpool/base/random.h"
#include "bitpool/linalg/procrustes.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

// Eigenvalues from 1 down to 1 / condition, evenly on a logarithmic scale.
MatrixF WithCondition(Index size, double condition, uint64_t seed) {
  Random random(seed);
  const MatrixD q = RandomOrthogonal(size, random).cast<double>();
  VectorD values(size);
  for (Index i = 0; i < size; ++i) {
    values[i] = std::pow(condition, -static_cast<double>(i) / static_cast<double>(size - 1));
  }
  const MatrixD matrix = q * values.asDiagonal() * q.transpose();
  return (0.5 * (matrix + matrix.transpose())).cast<float>();
}

auto Product(const MatrixF& matrix) {
  return [&matrix](const VectorF& in, VectorF& out) { out.noalias() = matrix * in; };
}

VectorD DirectSolution(const MatrixF& matrix, const VectorF& rhs) {
  return matrix.cast<double>().ldlt().solve(rhs.cast<double>());
}

double TrueResidual(const MatrixF& matrix, const VectorF& x, const VectorF& rhs) {
  const VectorD b = rhs.cast<double>();
  return (b - matrix.cast<double>() * x.cast<double>()).norm() / b.norm();
}

TEST(ConjugateGradients, AgreesWithCholeskyWithinTheLimitsOfFloat) {
  constexpr double kTolerance = 1e-5;
  for (const double condition : {1.0, 10.0, 1e2, 1e4, 1e6, 1e8}) {
    const MatrixF matrix = WithCondition(40, condition, 1);
    const VectorF rhs = Random(2).NormalMatrix(40, 1);
    VectorF x = VectorF::Zero(40);
    const ConjugateGradientsOptions options = {.max_iterations = 2000,
                                               .relative_tolerance = kTolerance};
    const auto result = SolveConjugateGradients(options, Product(matrix), rhs, x);
    ASSERT_TRUE(x.allFinite());
    EXPECT_TRUE(result.converged || condition > 1e6) << condition;
    EXPECT_TRUE(result.iterations == 1 || condition > 1) << condition;
    // What the header promises of the true residual.
    EXPECT_LT(TrueResidual(matrix, x, rhs), kTolerance + 2e-7 * condition) << condition;
    const VectorD expected = DirectSolution(matrix, rhs);
    if (condition <= 1e4) {
      EXPECT_LT((x.cast<double>() - expected).norm(),
                condition * (kTolerance + 2e-7) * expected.norm());
    }
  }
}

TEST(ConjugateGradients, ReportsTheResidualItReached) {
  const MatrixF matrix = WithCondition(30, 50, 3);
  const VectorF rhs = Random(4).NormalMatrix(30, 1);
  for (const double tolerance : {1e-1, 1e-3, 1e-5}) {
    VectorF x = VectorF::Zero(30);
    const auto result =
        SolveConjugateGradients({.relative_tolerance = tolerance}, Product(matrix), rhs, x);
    EXPECT_TRUE(result.converged);
    EXPECT_LE(result.relative_residual, tolerance);
    EXPECT_NEAR(result.relative_residual, TrueResidual(matrix, x, rhs), 5e-6);
  }
}

TEST(ConjugateGradients, NeedsNoMoreStepsThanDifferentEigenvalues) {
  // The identity plus rank 2: three different eigenvalues.
  Random random(5);
  const MatrixF v = random.NormalMatrix(60, 2);
  const MatrixF matrix = MatrixF::Identity(60, 60) + v * v.transpose();
  const VectorF rhs = random.NormalMatrix(60, 1);
  VectorF x = VectorF::Zero(60);
  const auto result = SolveConjugateGradients({}, Product(matrix), rhs, x);
  EXPECT_TRUE(result.converged);
  EXPECT_LE(result.iterations, 3);
}

TEST(ConjugateGradients, StopsAtTheLimitAndGoesOnFromThere) {
  const MatrixF matrix = WithCondition(40, 1e3, 6);
  const VectorF rhs = Random(7).NormalMatrix(40, 1);
  VectorF x = VectorF::Zero(40);
  const auto first = SolveConjugateGradients({.max_iterations = 5}, Product(matrix), rhs, x);
  EXPECT_EQ(first.iterations, 5);
  EXPECT_FALSE(first.converged);
  EXPECT_TRUE(first.positive_definite);
  const auto second = SolveConjugateGradients({.max_iterations = 500}, Product(matrix), rhs, x);
  EXPECT_TRUE(second.converged);
  // From the solution there is nothing left to do.
  const auto third = SolveConjugateGradients({.relative_tolerance = 1e-3}, Product(matrix), rhs, x);
  EXPECT_EQ(third.iterations, 0);
  EXPECT_TRUE(third.converged);
  const auto none = SolveConjugateGradients({.max_iterations = 0}, Product(matrix), rhs, x);
  EXPECT_EQ(none.iterations, 0);
}

TEST(ConjugateGradients, AZeroStartSavesAProduct) {
  const MatrixF matrix = WithCondition(10, 5, 8);
  const VectorF rhs = VectorF::Ones(10);
  int calls = 0;
  const auto counting = [&](const VectorF& in, VectorF& out) {
    ++calls;
    out.noalias() = matrix * in;
  };
  VectorF x = VectorF::Zero(10);
  const auto cold = SolveConjugateGradients({}, counting, rhs, x);
  EXPECT_EQ(calls, cold.iterations);
  calls = 0;
  x = VectorF::Ones(10);
  const auto warm = SolveConjugateGradients({}, counting, rhs, x);
  EXPECT_EQ(calls, warm.iterations + 1);
}

TEST(ConjugateGradients, ZeroGivesZero) {
  const MatrixF matrix = WithCondition(6, 3, 9);
  VectorF x = VectorF::Ones(6);
  const auto result = SolveConjugateGradients({}, Product(matrix), VectorF::Zero(6), x);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_TRUE(x.isZero(0));
  VectorF nothing;
  EXPECT_TRUE(SolveConjugateGradients({}, Product(matrix), VectorF(), nothing).converged);
}

TEST(ConjugateGradients, TinyAndHugeRightHandSidesAreSolvedAlike) {
  const MatrixF matrix = WithCondition(12, 20, 10);
  const VectorF rhs = Random(11).NormalMatrix(12, 1);
  const VectorD expected = DirectSolution(matrix, rhs);
  for (const float scale : {1e-30F, 1e30F}) {  // their squares do not fit into a float
    VectorF x = VectorF::Zero(12);
    const auto result = SolveConjugateGradients({}, Product(matrix), scale * rhs, x);
    EXPECT_TRUE(result.converged);
    EXPECT_LT((x.cast<double>() / static_cast<double>(scale) - expected).norm(),
              1e-3 * expected.norm());
  }
}

TEST(ConjugateGradients, ReportsThatTheMatrixIsNotPositiveDefinite) {
  MatrixF matrix = MatrixF::Identity(5, 5);
  for (const float bad : {0.0F, -1.0F}) {
    matrix(3, 3) = bad;
    VectorF x = VectorF::Zero(5);
    const auto result = SolveConjugateGradients({}, Product(matrix), VectorF::Unit(5, 3), x);
    EXPECT_FALSE(result.positive_definite);
    EXPECT_FALSE(result.converged);
    EXPECT_TRUE(x.isZero(0));
    EXPECT_EQ(result.relative_residual, 1);
  }
  // Found only after some good steps: what they gave is kept.
  matrix = VectorF::LinSpaced(5, 1, 5).asDiagonal();
  matrix(4, 4) = -3;
  VectorF x = VectorF::Zero(5);
  VectorF rhs(5);
  rhs << 1, 1, 1, 1, 0.01F;
  const auto result = SolveConjugateGradients({}, Product(matrix), rhs, x);
  EXPECT_FALSE(result.positive_definite);
  EXPECT_GT(result.iterations, 0);
  EXPECT_TRUE(x.allFinite());
}

TEST(ConjugateGradients, NotANumberIsReportedNotSpread) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const VectorF rhs = VectorF::Ones(4);
  MatrixF matrix = MatrixF::Identity(4, 4);
  matrix(1, 1) = nan;
  VectorF x = VectorF::Zero(4);
  auto result = SolveConjugateGradients({}, Product(matrix), rhs, x);
  EXPECT_FALSE(result.positive_definite);
  EXPECT_FALSE(result.converged);
  EXPECT_TRUE(x.allFinite());
  x.setOnes();  // the product with the start is bad already
  result = SolveConjugateGradients({}, Product(matrix), rhs, x);
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(x, VectorF::Ones(4));
  EXPECT_FALSE(std::isnan(result.relative_residual));
}

TEST(ConjugateGradients, WorkspaceIsReusedWithoutAllocation) {
  const MatrixF matrix = WithCondition(16, 10, 12);
  const VectorF rhs = VectorF::Ones(16);
  ConjugateGradientsWorkspace workspace;
  VectorF x = VectorF::Zero(16);
  SolveConjugateGradients({}, Product(matrix), rhs, x, workspace);
  const VectorF first = x;
  const float* const before[] = {workspace.residual.data(), workspace.direction.data(),
                                 workspace.product.data()};
  x.setZero();
  SolveConjugateGradients({}, Product(matrix), rhs, x, workspace);
  EXPECT_TRUE(SameBits(x, first));
  EXPECT_EQ(workspace.residual.data(), before[0]);
  EXPECT_EQ(workspace.direction.data(), before[1]);
  EXPECT_EQ(workspace.product.data(), before[2]);
}

TEST(ConjugateGradients, RefusesWhatHasNoMeaning) {
  EXPECT_THROW(ConjugateGradientsOptions{.max_iterations = -1}.Validate(), Error);
  EXPECT_THROW(ConjugateGradientsOptions{.relative_tolerance = -1}.Validate(), Error);
  const MatrixF matrix = MatrixF::Identity(3, 3);
  VectorF x = VectorF::Zero(2);
  EXPECT_THAT(RefusalOf([&] { SolveConjugateGradients({}, Product(matrix), VectorF::Ones(3), x); }),
              testing::HasSubstr("expected 3 values, got 2"));
}

}  // namespace
}  // namespace bitpool
