#include "bitpool/hash/hash_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/QR>

#include "bitpool/base/error.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

std::shared_ptr<LinearEncoder> MakeModelEncoder(Index dimension, int bits) {
  Random random(11);
  return std::make_shared<LinearEncoder>(
      LinearMap{.weights = random.NormalMatrix(bits, dimension), .bias = VectorF::Zero(bits)});
}

TEST(FitDecoder, IsTheLeastSquaresSolution) {
  Random random(4);
  const MatrixF x = random.NormalMatrix(6, 400);
  const auto encoder = MakeModelEncoder(6, 9);
  const LinearMap decoder = FitDecoder(*encoder, MatrixColumns(x), RunContext());
  // The same by QR of [Bᵀ 1], in double precision.
  MatrixD design(400, 10);
  design.leftCols(9) = SignsOf(encoder->Encode(x), 0, 400).transpose().cast<double>();
  design.col(9).setOnes();
  const MatrixD solution = design.colPivHouseholderQr().solve(x.transpose().cast<double>());
  EXPECT_LT((decoder.weights.cast<double>() - solution.topRows(9).transpose()).norm(), 1e-4);
  EXPECT_LT((decoder.bias.cast<double>() - solution.row(9).transpose()).norm(), 1e-4);
}

TEST(FitDecoder, GivesConstantBitsNoWeight) {
  Random random(4);
  const MatrixF x = random.NormalMatrix(3, 50);
  const LinearEncoder encoder(
      {.weights = MatrixF::Identity(3, 3), .bias = VectorF(Eigen::Vector3f(0, 1000, 0))});
  const LinearMap decoder = FitDecoder(encoder, MatrixColumns(x), RunContext());
  EXPECT_LT(decoder.weights.col(1).norm(), 1e-6);
}

TEST(ReconstructionError, IsTheMeanSquaredDistance) {
  Random random(5);
  const MatrixF x = random.NormalMatrix(4, 2100);
  HashModel model{.method = "test", .encoder = MakeModelEncoder(4, 5), .decoder = {}};
  model.decoder = FitDecoder(*model.encoder, MatrixColumns(x), RunContext());
  const MatrixF back = model.Reconstruct(model.encoder->Encode(x));
  EXPECT_NEAR(ReconstructionError(model, CopiedColumns(x), RunContext({.threads = 3})),
              (x - back).squaredNorm() / 2100, 1e-4);
  EXPECT_THAT(RefusalOf([&] { model.Reconstruct(BinaryCodes(6)); }),
              ::testing::HasSubstr("codes of 6 bits for a model that has 5"));
}

TEST(RequireTakesVectors, RefusesAModelWhosePoolingIsCoupled) {
  HashModel model{.method = "sah", .encoder = MakeModelEncoder(2, 3), .decoder = {}};
  RequireTakesVectors(model);
  model.pooling = PoolingRecipe();
  RequireTakesVectors(model);  // vectors of generalised max pooling are those of its own images
  model.pooling->gamma = 1;
  EXPECT_THAT(RefusalOf([&] { RequireTakesVectors(model); }),
              ::testing::HasSubstr("a model of sah takes local features, not vectors"));
}

TEST(RequireTrainable, SaysWhatIsMissing) {
  Moments moments(2);
  EXPECT_THAT(RefusalOf([&] { RequireTrainable(moments); }),
              ::testing::HasSubstr("0 training samples: expected at least 2"));
  moments.Add(MatrixF::Constant(2, 5, 7.3F));
  EXPECT_THAT(RefusalOf([&] { RequireTrainable(moments); }), ::testing::HasSubstr("all alike"));
  moments.Add(MatrixF::Constant(2, 1, 7.4F));
  EXPECT_NO_THROW(RequireTrainable(moments));
}

TEST(TrainingSummary, ReportsInOneLine) {
  TrainingSummary summary{.samples = 10, .converged = true, .seconds = 1.5};
  summary.iterations.push_back({.objective = 2.5, .flipped = 0.01});
  EXPECT_EQ(summary.BriefReport(),
            "10 samples, 1.50 s, 1 iterations, objective 2.5, 1.00 % of the bits changed last, "
            "converged");
}

}  // namespace
}  // namespace bitpool
