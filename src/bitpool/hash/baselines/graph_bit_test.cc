#include "bitpool/hash/baselines/graph_bit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/hash/baselines/testing.h"

namespace bitpool {
namespace {

TEST(GraphBit, LossFallsAndBitsAreAboveTheirMeans) {
  const MatrixF x = MakeClusters(16, 600, 6, 1, 3);
  const auto trained = TrainGraphBit({.bits = 8}, MatrixColumns(x), RunContext());
  EXPECT_EQ(trained.model.method, "graphbit");
  EXPECT_EQ(trained.model.encoder->kind(), "linear");
  const auto& records = trained.summary.iterations;
  ASSERT_EQ(records.size(), 30U);
  EXPECT_LT(records[9].objective, records[0].objective);
  EXPECT_LT(records[29].objective, records[20].objective);
  const MatrixF h = trained.model.encoder->Project(x);
  const VectorD deviation = (h.cast<double>().array().square().rowwise().mean()).sqrt();
  for (Index bit = 0; bit < 8; ++bit) {
    EXPECT_LT(std::abs(h.row(bit).cast<double>().mean()), 1e-3 * deviation[bit]) << bit;
  }
}

TEST(GraphBit, EdgesMakeADifference) {
  const MatrixF x = MakeClusters(10, 400, 6, 2);
  const auto with = TrainGraphBit({.bits = 6}, MatrixColumns(x), RunContext());
  const auto without = TrainGraphBit({.bits = 6, .edge_epochs = 0}, MatrixColumns(x), RunContext());
  EXPECT_EQ(without.summary.iterations.size(), 10U);
  EXPECT_FALSE(SameBits(with.model.encoder->Parameters()[0].second,
                        without.model.encoder->Parameters()[0].second));
  EXPECT_EQ(TrainGraphBit({.bits = 1}, MatrixColumns(x), RunContext()).model.bits(), 1);
}

TEST(GraphBit, SameAtAnyNumberOfThreads) {
  ExpectSameAtAnyNumberOfThreads(
      MakeClusters(150, 700, 5, 3), [](const ColumnSource& source, const RunContext& context) {
        return TrainGraphBit({.bits = 20, .epochs = 2, .edge_epochs = 1}, source, context);
      });
}

TEST(GraphBit, RefusesBadDataAndOptions) {
  ExpectRefusesBadData([](const ColumnSource& source, const RunContext& context) {
    return TrainGraphBit({.bits = 4}, source, context);
  });
  for (const GraphBitOptions& bad :
       {GraphBitOptions{.bits = 257}, GraphBitOptions{.epochs = 0}, GraphBitOptions{.batch = 0},
        GraphBitOptions{.learning_rate = 0}, GraphBitOptions{.weights = {.certainty = -1}},
        GraphBitOptions{.agent = {.exploration = 2}}}) {
    EXPECT_THROW(bad.Validate(), Error);
  }
}

}  // namespace
}  // namespace bitpool
