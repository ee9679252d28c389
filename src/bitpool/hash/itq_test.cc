#include "bitpool/hash/itq.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/hash/testing.h"
#include "bitpool/linalg/pca.h"
#include "bitpool/linalg/procrustes.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

ItqOptions ItqOfBits(int bits, int iterations = 50) {
  ItqOptions options;
  options.bits = bits;
  options.iterations = iterations;
  return options;
}

// The publication's algorithm word by word, in double precision: V, then B = sgn(RV) and
// R = UŨᵀ of the SVD of BVᵀ in turn. Starts from the rotation the trainer starts from.
struct SlowItq {
  MatrixD rotation;
  std::vector<double> objectives;  // per sample
};

SlowItq RunSlowItq(const MatrixF& x, int bits, int iterations, const RunContext& context) {
  const VectorD mean = x.cast<double>().rowwise().mean();
  const MatrixD centred = x.cast<double>().colwise() - mean;
  const Eigen::SelfAdjointEigenSolver<MatrixD> eigen(centred * centred.transpose());
  MatrixD basis =
      eigen.eigenvectors().rowwise().reverse().leftCols(std::min<Index>(bits, x.rows()));
  for (Index i = 0; i < basis.cols(); ++i) {  // the sign the library's components have
    Index largest = 0;
    basis.col(i).cwiseAbs().maxCoeff(&largest);
    if (basis(largest, i) < 0) basis.col(i) *= -1;
  }
  const MatrixD v = basis.transpose() * centred;
  Random random = context.MakeRandom(2);
  SlowItq slow;
  slow.rotation = RandomOrthogonal(bits, random).leftCols(basis.cols()).cast<double>();
  for (int i = 0; i < iterations; ++i) {
    const MatrixD b = (slow.rotation * v).unaryExpr([](double h) { return h >= 0 ? 1.0 : -1.0; });
    const Eigen::JacobiSVD<MatrixD> svd(b * v.transpose(),
                                        Eigen::ComputeThinU | Eigen::ComputeThinV);
    slow.rotation = svd.matrixU() * svd.matrixV().transpose();
    slow.objectives.push_back((b - slow.rotation * v).squaredNorm() /
                              static_cast<double>(x.cols()));
  }
  slow.rotation = slow.rotation * basis.transpose();
  return slow;
}

TEST(Itq, FollowsThePublication) {
  // One cluster: where two bits agree on all samples, the best rotation is not unique.
  Random random(1);
  MatrixF x = random.NormalMatrix(10, 1300);
  for (Index i = 0; i < 10; ++i) x.row(i) *= 1 + 0.3F * static_cast<float>(i);
  x.array() += 4;
  for (const int bits : {1, 4, 10, 16}) {
    const RunContext context;
    const SlowItq slow = RunSlowItq(x, bits, 8, context);
    const Trained<HashModel> itq = TrainItq(ItqOfBits(bits, 8), MatrixColumns(x), context);
    ASSERT_LE(itq.summary.iterations.size(), 8U);
    for (size_t i = 0; i < itq.summary.iterations.size(); ++i) {
      EXPECT_NEAR(itq.summary.iterations[i].objective, slow.objectives[i],
                  1e-4 * slow.objectives[i])
          << bits << " bits, iteration " << i;
    }
    const auto* encoder = dynamic_cast<const LinearEncoder*>(itq.model.encoder.get());
    EXPECT_LT((encoder->map().weights.cast<double>() - slow.rotation).norm(), 2e-2) << bits;
    EXPECT_LT((itq.model.encoder->Project(x.rowwise().mean())).norm(), 1e-3);
  }
}

TEST(Itq, ObjectiveNeverRises) {
  const MatrixF x = ClusteredSamples(24, 3000, 2);
  const TrainingSummary summary = TrainItq(ItqOfBits(24), MatrixColumns(x), RunContext()).summary;
  for (size_t i = 1; i < summary.iterations.size(); ++i) {
    EXPECT_LE(summary.iterations[i].objective, summary.iterations[i - 1].objective * (1 + 1e-6));
  }
  EXPECT_LT(summary.iterations.back().flipped, summary.iterations[1].flipped);
}

TEST(Itq, SameModelAtAnyNumberOfThreads) {
  const MatrixF x = ClusteredSamples(12, 2500, 3);
  const auto one = TrainItq(ItqOfBits(12), MatrixColumns(x), RunContext({.threads = 1}));
  const auto four = TrainItq(ItqOfBits(12), CopiedColumns(x), RunContext({.threads = 4}));
  EXPECT_TRUE(SameBits(one.model.encoder->Parameters()[0].second,
                       four.model.encoder->Parameters()[0].second));
  EXPECT_TRUE(SameBits(one.model.decoder.weights, four.model.decoder.weights));
}

TEST(Itq, ASampleThatFitsFindsNearlyTheSameQuality) {
  const MatrixF x = ClusteredSamples(16, 20000, 4);
  ItqOptions options = ItqOfBits(16);
  const auto all = TrainItq(options, MatrixColumns(x), RunContext());
  options.memory = 4000 * 16 * 4;
  const auto some = TrainItq(options, MatrixColumns(x), RunContext());
  EXPECT_FALSE(SameBits(all.model.decoder.weights, some.model.decoder.weights));
  EXPECT_NEAR(ReconstructionError(some.model, MatrixColumns(x), RunContext()),
              ReconstructionError(all.model, MatrixColumns(x), RunContext()),
              0.1 * ReconstructionError(all.model, MatrixColumns(x), RunContext()));
  options.memory = 20 * 16 * 4;  // less than one sample of every chunk
  const auto twenty = TrainItq(options, MatrixColumns(x), RunContext());
  options.memory = 1;  // one sample at least
  const auto one = TrainItq(options, MatrixColumns(x), RunContext());
  EXPECT_FALSE(SameBits(twenty.model.decoder.weights, one.model.decoder.weights));
}

TEST(Itq, EdgesOfTheData) {
  const RunContext context;
  const MatrixF few = ClusteredSamples(20, 5, 5);  // fewer samples than bits and dimensions
  EXPECT_EQ(TrainItq(ItqOfBits(8), MatrixColumns(few), context).model.bits(), 8);
  const MatrixF line = ClusteredSamples(1, 100, 6);
  EXPECT_EQ(TrainItq(ItqOfBits(1), MatrixColumns(line), context).model.bits(), 1);
  EXPECT_EQ(TrainItq(ItqOfBits(5), MatrixColumns(line), context).model.bits(), 5);

  const MatrixF constant = MatrixF::Constant(3, 10, 2);
  EXPECT_THAT(RefusalOf([&] { TrainItq(ItqOfBits(2), MatrixColumns(constant), context); }),
              ::testing::HasSubstr("all alike"));
  const MatrixF none(3, 0);
  EXPECT_THAT(RefusalOf([&] { TrainItq(ItqOfBits(2), MatrixColumns(none), context); }),
              ::testing::HasSubstr("0 training samples"));
  MatrixF bad = few;
  bad(3, 2) = std::nanf("");
  EXPECT_THAT(RefusalOf([&] { TrainItq(ItqOfBits(2), MatrixColumns(bad), context); }),
              ::testing::HasSubstr("column 2"));
  EXPECT_THAT(RefusalOf([&] { TrainItq(ItqOfBits(0), MatrixColumns(few), context); }),
              ::testing::HasSubstr("codes of 0 bits"));
  EXPECT_THAT(RefusalOf([&] { TrainItq(ItqOfBits(8, 0), MatrixColumns(few), context); }),
              ::testing::HasSubstr("iterations of ITQ"));
}

TEST(Itq, InterruptedLeavesTheRotationSoFar) {
  const MatrixF x = ClusteredSamples(12, 2500, 3);
  const auto trained = TrainItq(ItqOfBits(12), MatrixColumns(x), StoppedContext("ITQ", 3));
  EXPECT_TRUE(trained.summary.interrupted);
  EXPECT_EQ(trained.summary.iterations.size(), 3U);
  EXPECT_EQ(trained.model.decoder.weights.cols(), 12);
  EXPECT_THROW(TrainItq(ItqOfBits(12), MatrixColumns(x), StoppedContext("projecting", 1)), Error);
}

}  // namespace
}  // namespace bitpool
