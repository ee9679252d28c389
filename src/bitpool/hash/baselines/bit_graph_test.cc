#include "bitpool/hash/baselines/bit_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bitpool/hash/baselines/graph_bit_loss.h"
#include "bitpool/hash/baselines/head_testing.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;

BitGraph Linked() {
  BitGraph graph(3);
  graph.Toggle(2, 0);
  graph.Toggle(0, 1);
  graph.Toggle(2, 1);
  graph.Toggle(1, 2);
  graph.Toggle(1, 2);  // and away again
  return graph;
}

TEST(BitGraph, PartsAreTheBitAndItsEdges) {
  const BitGraph graph = Linked();
  EXPECT_TRUE(graph.Has(2, 0));
  EXPECT_FALSE(graph.Has(0, 2));
  EXPECT_FALSE(graph.Has(1, 2));
  const auto number = [&](Index from, Index to) { return graph.NumberOf(from, to); };
  EXPECT_THAT(graph.PartsOf(1), ElementsAre(number(1, 1), number(0, 1), number(2, 1)));
  EXPECT_THAT(graph.PartsOf(2), ElementsAre(number(2, 2)));
  EXPECT_THAT(graph.Parts(), ElementsAre(number(0, 0), number(2, 0), number(1, 1), number(0, 1),
                                         number(2, 1), number(2, 2)));
}

TEST(BitMeans, ByHand) {
  const BitMeans means(Linked());
  const MatrixF outputs = (MatrixF(6, 1) << 1, 3, 6, 0, 3, 5).finished();
  EXPECT_EQ(means.Means(outputs), (MatrixF(3, 1) << 2, 3, 5).finished());
  EXPECT_EQ(means.Unlinked(outputs), (MatrixF(3, 1) << 1, 6, 5).finished());
  const MatrixF back =
      means.Back((MatrixF(3, 1) << 2, 3, 5).finished(), (MatrixF(3, 1) << 10, 20, 30).finished());
  EXPECT_EQ(back, (MatrixF(6, 1) << 11, 1, 21, 1, 1, 35).finished());
}

// p = {1, 0; 0.5, 1.5} and p₀ = {1, 0; 0, 1}: the first bit has ln 1 = 0 and no other loss, the
// second a mean that is 0.5 too large, ln 0.5 + ln 1.5, and squares of 0.25.
TEST(GraphBitLoss, ByHand) {
  const MatrixF p = (MatrixF(2, 2) << 1, 0, 0.5F, 1.5F).finished();
  const MatrixF unlinked = (MatrixF(2, 2) << 1, 0, 0, 1).finished();
  const GraphBitWeights weights;
  const double second =
      100 * (0.25 - 0.2 * (std::log(0.5) + std::log(1.5)) / 2 + 0.4 * (0.25 + 0.25) / 2);
  EXPECT_NEAR(GraphBitLossOfBit(weights, p.row(0), unlinked.row(0)), 0, 1e-5);
  EXPECT_NEAR(GraphBitLossOfBit(weights, p.row(1), unlinked.row(1)), second, 1e-4);
  EXPECT_NEAR(ComputeGraphBitLoss(weights, p, unlinked).loss, second / 2, 1e-4);
}

// Through the means of the parts, too.
TEST(GraphBitLoss, GradientAgreesWithDifferences) {
  const BitMeans means(Linked());
  const GraphBitWeights weights{.certainty = 0.3, .fidelity = 0.7};
  MatrixF outputs = 2 * Random(3).NormalMatrix(6, 9);
  const auto compute = [&](const MatrixF& at) {
    return ComputeGraphBitLoss(weights, means.Means(at), means.Unlinked(at));
  };
  // Away from the kink of the absolute value.
  while (((means.Means(outputs).array() - 0.5F).abs() < 0.02F).any()) outputs.array() += 0.01F;
  const GraphBitLoss loss = compute(outputs);
  ExpectNear(means.Back(loss.gradient, loss.unlinked_gradient),
             DifferencesOf(outputs, [&](const MatrixF& at) { return compute(at).loss; }), 1e-3);
}

// Rewards that do not change: the agent settles for the edges that pay.
TEST(EdgeAgent, FindsTheEdgesThatPay) {
  constexpr Index kBits = 6;
  const auto worth = [](Index from, Index to) { return (from + 2 * to) % 3 == 0 ? 0.5 : -0.3; };
  BitGraph graph(kBits);
  const auto reward = [&](Index from, Index to) {
    return graph.Has(from, to) ? -worth(from, to) : worth(from, to);
  };
  EdgeAgent agent(kBits, {.exploration = 0.3}, Random(1));
  for (int action = 0; action < 6000; ++action) agent.Act(graph, reward);
  agent.Settle(graph);
  int wrong = 0;
  for (Index from = 0; from < kBits; ++from) {
    for (Index to = 0; to < kBits; ++to) {
      if (from != to) wrong += graph.Has(from, to) != (worth(from, to) > 0) ? 1 : 0;
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace bitpool
