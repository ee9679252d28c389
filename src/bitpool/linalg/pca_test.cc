#include "bitpool/linalg/pca.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <limits>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

// Rows of descending variance, mixed.
MatrixF MakeData(Index dimension, Index count, uint64_t seed, float mean = 0) {
  Random random(seed);
  const MatrixF mix = random.NormalMatrix(dimension, dimension);
  MatrixF data = random.NormalMatrix(dimension, count);
  for (Index i = 0; i < dimension; ++i) data.row(i) *= 3.0F / static_cast<float>(i + 1);
  data = mix * data;
  data.array() += mean;
  return data;
}

Pca PcaOf(const MatrixF& data, Index components) {
  Moments moments(data.rows());
  moments.Add(data);
  return ComputePca(moments, components);
}

void ExpectOrthonormal(const MatrixF& basis) {
  const MatrixF gram = basis.transpose() * basis;
  EXPECT_LT((gram - MatrixF::Identity(gram.rows(), gram.cols())).norm(), 1e-5F);
}

TEST(Pca, AgreesWithSingularValues) {
  struct Case {
    Index dimension, count, components;
    float mean;
  };
  for (const auto& [dimension, count, components, mean] :
       {Case{1, 5, 1, 0}, Case{6, 300, 6, 0}, Case{32, 500, 3, 0}, Case{20, 8, 5, 0},
        Case{10, 400, 4, 1e6F}}) {
    const MatrixF data = MakeData(dimension, count, 1, mean);
    const Pca pca = PcaOf(data, components);
    const MatrixD exact = data.cast<double>();
    const MatrixD centred = exact.colwise() - exact.rowwise().mean().eval();
    const Eigen::JacobiSVD<MatrixD> svd(centred, Eigen::ComputeThinU);
    const VectorD variances =
        svd.singularValues().head(components).array().square() / static_cast<double>(count);
    EXPECT_LT((pca.variances.cast<double>() - variances).norm(), 1e-5 * variances[0]);
    EXPECT_NEAR(pca.total_variance / (centred.squaredNorm() / static_cast<double>(count)), 1, 1e-5);
    ExpectOrthonormal(pca.basis);
    // The same subspace: the singular vectors lie in the span of the basis.
    const MatrixD u = svd.matrixU().leftCols(components);
    const MatrixD basis = pca.basis.cast<double>();
    EXPECT_LT((basis * (basis.transpose() * u) - u).norm(), 2e-3) << dimension << " " << count;
  }
}

TEST(Pca, ProjectionsAreUncorrelatedAndCentred) {
  const MatrixF data = MakeData(12, 2000, 2, 1e3F);
  const Pca pca = PcaOf(data, 5);
  const MatrixD projected = pca.Project(data).cast<double>();
  EXPECT_LT(projected.rowwise().mean().norm(), 1e-3);
  MatrixD covariance = projected * projected.transpose() / 2000.0;
  for (Index i = 0; i < 5; ++i) {
    EXPECT_NEAR(covariance(i, i) / static_cast<double>(pca.variances[i]), 1, 1e-3);
  }
  covariance.diagonal().setZero();
  EXPECT_LT(covariance.cwiseAbs().maxCoeff(), 1e-4 * static_cast<double>(pca.variances[0]));
  EXPECT_THROW(pca.Project(MatrixF::Zero(11, 1)), Error);
}

TEST(Pca, SignsAreFixed) {
  const MatrixF data = MakeData(30, 400, 3);
  const Pca pca = PcaOf(data, 30);
  const Pca mirrored = PcaOf(-data, 30);
  EXPECT_LT((pca.basis - mirrored.basis).norm(), 1e-3F);
  for (Index i = 0; i < 30; ++i) {
    EXPECT_EQ(pca.basis.col(i).maxCoeff(), pca.basis.col(i).cwiseAbs().maxCoeff());
  }
}

TEST(Pca, ConstantDataAndOneSample) {
  for (const Index count : {1, 40}) {
    const Pca pca = PcaOf(MatrixF::Constant(16, count, 1e6F), 16);
    ExpectOrthonormal(pca.basis);
    EXPECT_TRUE(pca.variances.isZero(0));
    EXPECT_EQ(pca.total_variance, 0);
    EXPECT_EQ(pca.mean, VectorF::Constant(16, 1e6F));
  }
}

TEST(Pca, FewerSamplesThanDimensions) {
  const MatrixF data = MakeData(40, 5, 4);
  const Pca pca = PcaOf(data, 40);
  ExpectOrthonormal(pca.basis);
  EXPECT_GE(pca.variances.minCoeff(), 0);
  EXPECT_LT(pca.variances.tail(36).maxCoeff(), 1e-5F * pca.variances[0]);
}

TEST(Pca, RefusesTooManyComponentsAndSaysWhatToDo) {
  const MatrixF data = MakeData(4, 10, 5);
  EXPECT_THAT(RefusalOf([&] { PcaOf(data, 5); }),
              HasSubstr("1 to 4 of them, got 5; ask for fewer"));
  EXPECT_THROW(PcaOf(data, 0), Error);
  EXPECT_THROW(ComputePca(Moments(3), 1), Error);
  EXPECT_THROW(PcaOptions{.components = 0}.Validate(), Error);
  EXPECT_THROW(TrainPca({.components = 5}, MatrixColumns(data), RunContext()), Error);
}

TEST(Pca, TrainedAtAnyNumberOfThreads) {
  const MatrixF data = MakeData(24, 9000, 6);
  const auto train = [&](int threads) {
    const RunContext context({.threads = threads});
    return TrainPca({.components = 3}, CopiedColumns(data), context);
  };
  const Trained<Pca> one = train(1);
  EXPECT_TRUE(SameBits(one.model.basis, PcaOf(data, 3).basis));
  EXPECT_GT(one.summary.explained, 0.5);
  EXPECT_LT(one.summary.explained, 1.0);
  EXPECT_THAT(one.summary.BriefReport(), HasSubstr("PCA: 3 components of 9000 samples explain"));
  for (const int threads : {2, 5}) {
    const Trained<Pca> many = train(threads);
    EXPECT_TRUE(SameBits(many.model.basis, one.model.basis));
    EXPECT_TRUE(SameBits(many.model.variances, one.model.variances));
    EXPECT_TRUE(SameBits(many.model.mean, one.model.mean));
  }
}

}  // namespace
}  // namespace bitpool
