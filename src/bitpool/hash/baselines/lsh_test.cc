#include "bitpool/hash/baselines/lsh.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "bitpool/hash/baselines/testing.h"

namespace bitpool {
namespace {

Trained<HashModel> TrainLshOn(const MatrixF& data, int bits, uint64_t seed = 1) {
  return TrainLsh({.bits = bits}, MatrixColumns(data), RunContext({.seed = seed}));
}

const LinearMap& LshMapOf(const HashModel& model) {
  return dynamic_cast<const LinearEncoder&>(*model.encoder).map();
}

TEST(Lsh, ProjectsCentredDataOnNormalDirections) {
  const MatrixF data = MakeClusters(20, 500, 7, 1, 30);
  const Trained<HashModel> trained = TrainLshOn(data, 40);
  EXPECT_EQ(trained.model.method, "lsh");
  EXPECT_EQ(trained.summary.samples, 500);
  EXPECT_TRUE(trained.summary.iterations.empty());
  const MatrixF& weights = LshMapOf(trained.model).weights;
  ASSERT_EQ(weights.rows(), 40);
  ASSERT_EQ(weights.cols(), 20);
  EXPECT_NEAR(static_cast<double>(weights.mean()), 0, 0.15);
  EXPECT_NEAR(static_cast<double>(weights.squaredNorm()) / 800, 1, 0.15);
  const VectorD mean = MeanOf(data);
  const MatrixF projected = trained.model.encoder->Project(data);
  const BinaryCodes codes = trained.model.encoder->Encode(data);
  for (Index sample = 0; sample < data.cols(); ++sample) {
    for (int bit = 0; bit < 40; ++bit) {
      double h = 0;
      for (Index i = 0; i < 20; ++i) {
        h +=
            static_cast<double>(weights(bit, i)) * (static_cast<double>(data(i, sample)) - mean[i]);
      }
      EXPECT_NEAR(static_cast<double>(projected(bit, sample)), h, 2e-3);
      if (std::abs(h) > 2e-3) {
        EXPECT_EQ(BitOf(codes, sample, bit), h > 0);
      }
    }
  }
}

// A random hyperplane separates two vectors with a probability of their angle / π.
TEST(Lsh, HammingDistanceTellsTheAngle) {
  MatrixF data(3, 4);
  data << 1, 0.5F, -1, -0.5F,  //
      0, 2, 0, -2,             //
      1, 0, -1, 0;
  const int bits = 1024;
  const BinaryCodes codes = TrainLshOn(data, bits).model.encoder->Encode(data);
  for (Index a = 0; a < 4; ++a) {
    for (Index b = 0; b < 4; ++b) {
      const double cosine =
          static_cast<double>(data.col(a).normalized().dot(data.col(b).normalized()));
      const double share = std::acos(std::clamp(cosine, -1.0, 1.0)) / std::numbers::pi;
      EXPECT_NEAR(HammingDistance(codes.code(a), codes.code(b)) / double{bits}, share, 0.05);
    }
  }
}

TEST(Lsh, DecoderIsTheLeastSquaresFit) {
  const MatrixF data = MakeClusters(6, 400, 5, 2, 3);
  const Trained<HashModel> trained = TrainLshOn(data, 5);
  const BinaryCodes codes = trained.model.encoder->Encode(data);
  MatrixD signs(400, 6);
  for (Index i = 0; i < 400; ++i) {
    for (int bit = 0; bit < 5; ++bit) signs(i, bit) = BitOf(codes, i, bit) ? 1 : -1;
    signs(i, 5) = 1;
  }
  const MatrixD targets = data.cast<double>().transpose();
  const MatrixD normal = signs.transpose() * signs;
  const MatrixD fit = normal.inverse() * (signs.transpose() * targets);
  EXPECT_LT((trained.model.decoder.weights.cast<double>() - fit.topRows(5).transpose()).norm(),
            1e-4 * fit.norm());
  EXPECT_LT((trained.model.decoder.bias.cast<double>() - fit.row(5).transpose()).norm(),
            1e-4 * fit.norm());
}

TEST(Lsh, SeedsAndThreads) {
  const MatrixF data = MakeClusters(12, 3000, 9, 3);
  ExpectSameAtAnyNumberOfThreads(data, [](const ColumnSource& source, const RunContext& context) {
    return TrainLsh({.bits = 24}, source, context);
  });
  ExpectSameModel(TrainLshOn(data, 8, 5).model, TrainLshOn(data, 8, 5).model);
  EXPECT_NE(LshMapOf(TrainLshOn(data, 8, 5).model).weights,
            LshMapOf(TrainLshOn(data, 8, 6).model).weights);
}

TEST(Lsh, OneBitFewSamplesAndManyBits) {
  const MatrixF data = MakeClusters(4, 10, 3, 4);
  EXPECT_EQ(TrainLshOn(data, 1).model.bits(), 1);
  EXPECT_EQ(TrainLshOn(data, 100).model.bits(), 100);
  EXPECT_EQ(TrainLshOn(data.leftCols(2), 32).model.encoder->Encode(data).size(), 10);
  EXPECT_EQ(TrainLshOn(data.topRows(1), 3).model.dimension(), 1);
}

TEST(Lsh, Refuses) {
  EXPECT_THROW(LshOptions{.bits = 0}.Validate(), Error);
  EXPECT_THROW(LshOptions{.bits = kMaxBits + 1}.Validate(), Error);
  ExpectRefusesBadData([](const ColumnSource& source, const RunContext& context) {
    return TrainLsh({.bits = 16}, source, context);
  });
}

}  // namespace
}  // namespace bitpool
