#include "bitpool/hash/baselines/deep_bit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/hash/baselines/head_testing.h"
#include "bitpool/hash/baselines/testing.h"
#include "bitpool/hash/view_testing.h"

namespace bitpool {
namespace {

DeepBitOptions QuickDeepBit(int bits = 8) {
  return {.bits = bits, .steps = 2000, .view_steps = 500};
}

Trained<HashModel> TrainDeep(const DeepBitOptions& options, const ColumnSource& source,
                             const RunContext& context, Index per_picture = 1) {
  return TrainDeepBit(options, {.vectors = source, .per_picture = per_picture}, context);
}

// f = {0.2, 1; 0, 0.8}, b = {0, 1; 0, 1}: means 0.6 and 0.4, errors 0.04 + 0.04.
TEST(DeepBitLoss, ByHand) {
  const MatrixF z = (MatrixF(2, 2) << 0.2F, 1, -3, 0.8F).finished();
  const HeadLoss loss = ComputeDeepBitLoss(z, 1, 0);
  EXPECT_NEAR(loss.loss, 0.01 + 0.01 + 0.5 * (0.04 + 0.04), 1e-6);
  EXPECT_NEAR(loss.gradient(0, 0), 0.1 + 0.2, 1e-6);  // 2/N (mean − 0.5) + 2/N (f − b)
  EXPECT_NEAR(loss.gradient(0, 1), 0.1, 1e-6);
  EXPECT_EQ(loss.gradient(1, 0), 0) << "a unit that is off has no gradient";
  EXPECT_NEAR(loss.gradient(1, 1), -0.1 - 0.2, 1e-6);
  // As a picture and its view: ‖f₂ − f₁‖² = 0.64 + 0.64.
  const double weight = (std::exp(-0.5) + std::exp(-2)) / 2;
  EXPECT_NEAR(ComputeDeepBitLoss(z, 2, 10).loss - loss.loss, 10 * weight * 1.28 / 2, 1e-5);
}

TEST(DeepBitLoss, GradientAgreesWithDifferences) {
  for (const Index per_picture : {1, 3}) {
    MatrixF z = Random(5).NormalMatrix(6, 12);
    // Away from its kinks.
    z = z.unaryExpr([](float value) {
      const bool edge = std::abs(value) < 0.03F || std::abs(value - 0.5F) < 0.03F;
      return edge ? 0.25F : value;
    });
    const auto loss = [&](const MatrixF& at) {
      return ComputeDeepBitLoss(at, per_picture, 0.7).loss;
    };
    ExpectNear(ComputeDeepBitLoss(z, per_picture, 0.7).gradient, DifferencesOf(z, loss), 1e-3);
  }
}

TEST(DeepBit, LossFallsAndBitsAreUsed) {
  const MatrixF x = MakeClusters(16, 600, 6, 1, 3);
  const Trained<HashModel> trained = TrainDeep(QuickDeepBit(), MatrixColumns(x), RunContext());
  EXPECT_EQ(trained.model.method, "deepbit");
  EXPECT_EQ(trained.model.encoder->kind(), "linear");
  const auto& records = trained.summary.iterations;
  ASSERT_EQ(records.size(), 10U);
  EXPECT_LT(records.back().objective, 0.7 * records.front().objective);
  const MatrixF h = trained.model.encoder->Project(x);
  for (Index bit = 0; bit < h.rows(); ++bit) {
    const double ones = (h.row(bit).array() >= 0).cast<double>().mean();
    EXPECT_GT(ones, 0.1) << bit;
    EXPECT_LT(ones, 0.9) << bit;
  }
}

// The threshold is the mean of f, and it is in the bias: the mean of max(h, −t) is zero.
TEST(DeepBit, ThresholdIsTheMeanOutput) {
  const MatrixF x = MakeClusters(8, 300, 4, 2, 3);
  const auto trained = TrainDeep(QuickDeepBit(4), MatrixColumns(x), RunContext());
  const MatrixD h = trained.model.encoder->Project(x).cast<double>();
  const auto excess = [&](double t) { return h.cwiseMax(-t).mean(); };
  double low = 0, high = 10;  // excess falls with t, from above zero
  ASSERT_GT(excess(low), 0);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (excess(middle) > 0 ? low : high) = middle;
  }
  EXPECT_GT(low, 0.2) << "outputs are between 0 and 1, and half of them are to be 1";
  EXPECT_LT(low, 0.8);
}

// Bits that differ between a view and its picture, as a share of those between pictures.
double DistanceOfViews(const HashModel& model, const MatrixF& images, Index per_picture) {
  const MatrixF h = model.encoder->Project(images);
  const auto differ = [&](Index a, Index b) {
    return static_cast<double>(((h.col(a).array() >= 0) != (h.col(b).array() >= 0)).count());
  };
  double same = 0, other = 0;
  for (Index i = 0; i < images.cols(); ++i) {
    same += differ(i, i / per_picture * per_picture);
    other += differ(i, (i + 5 * per_picture) % images.cols());
  }
  return same / other;
}

TEST(DeepBit, ViewsComeNearerToTheirPictures) {
  const MatrixF images = ViewSamples(12, 300, 4, 1), fresh = ViewSamples(12, 100, 4, 2);
  DeepBitOptions options = QuickDeepBit();
  options.view_steps = 2000;
  options.view_rate = 1e-3;
  options.view_weight = 1;
  const auto with = TrainDeep(options, MatrixColumns(images), RunContext(), 4);
  EXPECT_EQ(with.summary.iterations.size(), 20U);
  options.view_weight = 0;
  const auto without = TrainDeep(options, MatrixColumns(images), RunContext(), 4);
  EXPECT_LT(DistanceOfViews(with.model, fresh, 4), 0.4 * DistanceOfViews(without.model, fresh, 4));
}

TEST(DeepBit, SameAtAnyNumberOfThreads) {
  ExpectSameAtAnyNumberOfThreads(MakeClusters(12, 1500, 5, 3),
                                 [](const ColumnSource& source, const RunContext& context) {
                                   return TrainDeep(QuickDeepBit(6), source, context, 3);
                                 });
}

TEST(DeepBit, RefusesBadDataAndOptions) {
  ExpectRefusesBadData([](const ColumnSource& source, const RunContext& context) {
    return TrainDeep(QuickDeepBit(4), source, context);
  });
  for (const DeepBitOptions& bad :
       {DeepBitOptions{.bits = 0}, DeepBitOptions{.steps = 0}, DeepBitOptions{.batch = 0},
        DeepBitOptions{.learning_rate = -1}, DeepBitOptions{.view_weight = std::nan("")}}) {
    EXPECT_THROW(bad.Validate(), Error);
  }
}

}  // namespace
}  // namespace bitpool
