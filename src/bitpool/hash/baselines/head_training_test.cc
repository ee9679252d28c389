#include "bitpool/hash/baselines/head_training.h"

#include <gtest/gtest.h>

#include <set>

#include "bitpool/hash/baselines/testing.h"
#include "bitpool/hash/testing.h"

namespace bitpool {
namespace {

TEST(HeadTraining, VectorsAreScaledToOneLengthAtAnyDimension) {
  for (const Index dimension : {3, 200}) {
    const MatrixF x = 7 * MakeClusters(dimension, 500, 4, 1, 30);
    const ViewScale scale = MeasureForHead(MatrixColumns(x), RunContext());
    const MatrixD scaled = (x.cast<double>().colwise() - scale.mean) / scale.unit;
    EXPECT_NEAR(scaled.squaredNorm() / 500, kHeadSquaredLength, 1e-3 * kHeadSquaredLength);
    EXPECT_LT(scaled.rowwise().mean().norm(), 1e-4);
  }
}

TEST(HeadTraining, EverySampleIsInOneBatchOfAnEpoch) {
  BatchOrder order(10, 3, Random(1));
  EXPECT_EQ(order.batches_per_epoch(), 3);
  std::set<std::vector<Index>> firsts;
  for (int epoch = 0; epoch < 5; ++epoch) {
    std::set<Index> seen;
    for (int batch = 0; batch < 3; ++batch) {
      const auto samples = order.Next();
      ASSERT_EQ(samples.size(), 3U);
      seen.insert(samples.begin(), samples.end());
      if (batch == 0) firsts.emplace(samples.begin(), samples.end());
    }
    EXPECT_EQ(seen.size(), 9U);
    EXPECT_LT(*seen.rbegin(), 10);
  }
  EXPECT_GT(firsts.size(), 1U) << "the order never changes";
  BatchOrder few(2, 32, Random(1));
  EXPECT_EQ(few.batches_per_epoch(), 1);
  EXPECT_EQ(few.Next().size(), 2U);
}

// By hand, with one weight that begins at zero.
TEST(HeadTraining, StepsHaveMomentumAndDecay) {
  LinearHead head(1, 1, 0, 1, Random(1));
  const MatrixF x = MatrixF::Constant(1, 1, 2), gradient = MatrixF::Constant(1, 1, 3);
  EXPECT_FLOAT_EQ(head.Apply(x)(0, 0), 1);
  const MomentumStep step{.rate = 0.1, .momentum = 0.5, .weight_decay = 0.2};
  head.Step(step, x, gradient);  // v = −0.1 · 3 · 2
  EXPECT_FLOAT_EQ(head.map().weights(0, 0), -0.6F);
  EXPECT_FLOAT_EQ(head.map().bias[0], 0.7F);
  head.Step(step, x, gradient);  // v = 0.5 · −0.6 − 0.1 (6 − 0.2 · 0.6) = −0.888
  EXPECT_FLOAT_EQ(head.map().weights(0, 0), -1.488F);
  EXPECT_FLOAT_EQ(head.map().bias[0], 0.25F);  // v = 0.5 · −0.3 − 0.3
}

TEST(HeadTraining, RecordsTenthsAndStopsWhenAsked) {
  TrainingSummary summary;
  Index calls = 0;
  RunHeadSteps("steps", 25, RunContext(), summary, [&](Index step) {
    EXPECT_EQ(step, calls++);
    return static_cast<double>(step);
  });
  EXPECT_EQ(calls, 25);
  ASSERT_EQ(summary.iterations.size(), 10U);
  EXPECT_EQ(summary.iterations[0].objective, 0.5);  // of steps 0 and 1
  EXPECT_EQ(summary.iterations[9].objective, 23);   // of steps 22 to 24
  TrainingSummary few;
  RunHeadSteps("steps", 3, RunContext(), few, [](Index) { return 1.0; });
  EXPECT_EQ(few.iterations.size(), 3U);
  calls = 0;
  EXPECT_THROW(RunHeadSteps("steps", 1'000'000, StoppedContext("steps", 1), summary,
                            [&](Index) { return static_cast<double>(++calls); }),
               Error);
  EXPECT_LT(calls, 1'000'000);
}

TEST(HeadTraining, RefusesALossWithoutEnd) {
  TrainingSummary summary;
  EXPECT_NE(RefusalOf([&] {
              RunHeadSteps("Steps", 100, RunContext(), summary, [](Index step) {
                return step < 50 ? 1.0 : std::numeric_limits<double>::infinity();
              });
            }).find("Steps: the loss is no longer a finite number"),
            std::string::npos);
}

TEST(HeadTraining, RateFallsAtHalf) {
  EXPECT_EQ(DroppedRate(1, 0, 10), 1);
  EXPECT_EQ(DroppedRate(1, 4, 10), 1);
  EXPECT_EQ(DroppedRate(1, 5, 10), 0.1);
}

}  // namespace
}  // namespace bitpool
