#include "bitpool/embed/local_pca.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <limits>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

MatrixF Sample(Index dimension, Index count) {
  Random random(3);
  MatrixF sample(dimension, count);
  for (Index i = 0; i < sample.size(); ++i) {
    // Directions of different variance, all away from zero.
    sample(i) = static_cast<float>(1 + random.Normal() / static_cast<double>(1 + i % dimension));
  }
  return sample;
}

// Against the steps by Eigen, in double precision.
TEST(LocalPca, ReducesUnitFeaturesToUnitFeatures) {
  const MatrixF sample = Sample(6, 400);
  const LocalPca pca = TrainLocalPca(sample, 3, RunContext({.threads = 1}));
  EXPECT_EQ(pca.input_dimension(), 6);
  EXPECT_EQ(pca.dimension(), 3);
  MatrixD unit = sample.cast<double>();
  unit.colwise().normalize();
  const VectorD mean = unit.rowwise().mean();
  const MatrixD centred = unit.colwise() - mean;
  const Eigen::SelfAdjointEigenSolver<MatrixD> eigen(centred * centred.transpose());
  const MatrixD basis = eigen.eigenvectors().rowwise().reverse().leftCols(3);
  MatrixD expected = basis.transpose() * centred;
  expected.colwise().normalize();
  const MatrixD reduced = pca.Apply(sample).cast<double>();
  for (Index row = 0; row < 3; ++row) {  // directions have no sign
    const double sign = reduced.row(row).dot(expected.row(row)) < 0 ? -1 : 1;
    EXPECT_LT((reduced.row(row) - sign * expected.row(row)).cwiseAbs().maxCoeff(), 1e-3);
  }
  EXPECT_LT((reduced.colwise().norm().array() - 1).abs().maxCoeff(), 1e-5);
  // The length of a feature does not matter.
  EXPECT_LT((pca.Apply(7 * sample) - pca.Apply(sample)).cwiseAbs().maxCoeff(), 1e-4F);
}

TEST(LocalPca, IsStoredAndRead) {
  const MatrixF sample = Sample(5, 50);
  const LocalPca pca = TrainLocalPca(sample, 2, RunContext({.threads = 1}));
  EXPECT_EQ(LocalPca::FromParameters(pca.Parameters()).Apply(sample), pca.Apply(sample));
  EXPECT_THROW(LocalPca::FromParameters({pca.Parameters()[0]}), Error);
}

TEST(LocalPca, RefusesWhatHasNoMeaning) {
  const MatrixF basis = MatrixF::Identity(3, 2);
  EXPECT_THROW(LocalPca(VectorF::Zero(4), basis), Error);
  EXPECT_THROW(LocalPca(VectorF::Zero(2), MatrixF::Ones(2, 3)), Error);
  EXPECT_THROW(LocalPca(VectorF::Constant(3, std::numeric_limits<float>::quiet_NaN()), basis),
               Error);
  const LocalPca pca(VectorF::Zero(3), basis);
  EXPECT_THROW(pca.Apply(MatrixF::Ones(4, 1)), Error);
  EXPECT_EQ(pca.Apply(MatrixF::Zero(3, 2)), MatrixF::Zero(2, 2));  // nothing stays nothing
  EXPECT_EQ(pca.Apply(MatrixF(3, 0)).cols(), 0);
  EXPECT_THROW(TrainLocalPca(MatrixF::Ones(3, 9), 4, RunContext({.threads = 1})), Error);
}

}  // namespace
}  // namespace bitpool
