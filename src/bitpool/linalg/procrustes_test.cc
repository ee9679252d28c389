#include "bitpool/linalg/procrustes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/SVD>
#include <limits>

#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

void ExpectOrthonormalColumns(const MatrixF& q) {
  const MatrixF gram = q.transpose() * q;
  EXPECT_LE((gram - MatrixF::Identity(q.cols(), q.cols())).norm(),
            1e-6F * static_cast<float>(q.cols()));
}

TEST(NearestOrthogonal, IsOrthonormalAndReachesTheBound) {
  Random random(1);
  struct Case {
    Index rows, cols;
  };
  for (const auto& [rows, cols] : {Case{1, 1}, Case{2, 2}, Case{33, 33}, Case{20, 7}, Case{5, 1}}) {
    const MatrixF matrix = random.NormalMatrix(rows, cols);
    const MatrixF q = NearestOrthogonal(matrix);
    ExpectOrthonormalColumns(q);
    // tr(QᵀM) is at most the sum of the singular values, for any Q.
    const Eigen::JacobiSVD<MatrixD> svd(matrix.cast<double>());
    const double reached = (q.cast<double>().transpose() * matrix.cast<double>()).trace();
    EXPECT_NEAR(reached / svd.singularValues().sum(), 1, 1e-6);
    for (int i = 0; i < 20 && rows == cols; ++i) {
      const MatrixF other = RandomOrthogonal(rows, random);
      EXPECT_LE((q - matrix).norm(), (other - matrix).norm() * 1.00001F);
    }
  }
}

TEST(NearestOrthogonal, FindsTheRotationBetweenTwoSets) {
  Random random(2);
  for (const float mirror : {1.0F, -1.0F}) {
    MatrixF truth = RandomOrthogonal(9, random);
    truth.col(0) *= mirror;  // of both determinants, one is a reflection
    const MatrixF a = random.NormalMatrix(9, 50), b = truth * a;
    EXPECT_LT((NearestOrthogonal(b * a.transpose()) - truth).norm(), 1e-4F);
  }
}

TEST(NearestOrthogonal, AllowsReflections) {
  MatrixF mirror = MatrixF::Identity(3, 3);
  mirror(2, 2) = -5;
  const MatrixF q = NearestOrthogonal(mirror);
  EXPECT_NEAR(q.determinant(), -1, 1e-6);
}

TEST(NearestOrthogonal, WithoutFullRankIsStillOrthonormal) {
  ExpectOrthonormalColumns(NearestOrthogonal(MatrixF::Zero(6, 4)));
  ExpectOrthonormalColumns(NearestOrthogonal(MatrixF::Ones(8, 8)));
  EXPECT_EQ(NearestOrthogonal(MatrixF(4, 0)).rows(), 4);
}

TEST(NearestOrthogonal, RefusesWideAndBad) {
  EXPECT_THAT(RefusalOf([] { NearestOrthogonal(MatrixF::Ones(2, 3)); }), HasSubstr("transpose"));
  MatrixF bad = MatrixF::Ones(3, 3);
  bad(1, 2) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(RefusalOf([&] { NearestOrthogonal(bad); }), HasSubstr("column 2, row 1"));
}

TEST(RandomOrthogonal, IsOrthogonalAndReproducible) {
  for (const Index n : {0, 1, 2, 40}) {
    Random a(3), b(3), c(4);
    const MatrixF q = RandomOrthogonal(n, a);
    ExpectOrthonormalColumns(q);
    EXPECT_TRUE(SameBits(q, RandomOrthogonal(n, b)));
    EXPECT_TRUE(n <= 1 || !SameBits(q, RandomOrthogonal(n, c)));
  }
  Random random(5);
  EXPECT_THROW(RandomOrthogonal(-1, random), Error);
}

TEST(RandomOrthogonal, IsUniform) {
  // Uniform means: no entry has a preferred sign, and both determinants are as likely. Without the
  // sign fix the Householder Q has a negative mean on its diagonal.
  Random random(6);
  MatrixD sum = MatrixD::Zero(3, 3);
  int rotations = 0;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const MatrixF q = RandomOrthogonal(3, random);
    sum += q.cast<double>();
    rotations += q.determinant() > 0 ? 1 : 0;
  }
  EXPECT_LT((sum / kDraws).cwiseAbs().maxCoeff(), 0.04);
  EXPECT_NEAR(static_cast<double>(rotations) / kDraws, 0.5, 0.04);
}

}  // namespace
}  // namespace bitpool
