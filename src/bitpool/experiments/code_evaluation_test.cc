#include "bitpool/experiments/code_evaluation.h"

#include <gtest/gtest.h>

namespace bitpool {
namespace {

// Two codes equally far from the query by Hamming; the bit that differs in the second is the one
// the query is sure of.
TEST(EvaluateBothWays, WeighsTheBitsOnlyWhereItIsAsymmetric) {
  const BinaryCodes codes(2, {0b10, 0b01});
  const MatrixF numbers = VectorF{{0.1F, 5}};
  const EncodedVectors query{.codes = BinaryCodes::FromSigns(numbers), .projections = numbers};
  ListedTruth first(2), second(2);
  first.AddQuery({0});
  second.AddQuery({1});
  const auto ask = [&](const GroundTruth& truth) {
    return EvaluateBothWays(codes, query, truth, HashingProtocol(), RunContext());
  };
  EXPECT_EQ(ask(first).hamming.mean_ap, 0.75);  // a tie: the mean of 1 and ½
  EXPECT_EQ(ask(second).hamming.mean_ap, 0.75);
  EXPECT_EQ(ask(first).asymmetric.mean_ap, 1);
  EXPECT_EQ(ask(second).asymmetric.mean_ap, 0.5);
}

}  // namespace
}  // namespace bitpool
