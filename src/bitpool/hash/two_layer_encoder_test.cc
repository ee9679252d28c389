#include "bitpool/hash/two_layer_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/base/random.h"
#include "bitpool/hash/two_layer_gradient.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

TwoLayerMap RandomTwoLayerMap(Index bits, Index dimension, Index hidden, uint64_t seed) {
  Random random(seed);
  return {.linear = {.weights = random.NormalMatrix(bits, dimension),
                     .bias = random.NormalMatrix(bits, 1)},
          .hidden = {.weights = random.NormalMatrix(hidden, dimension),
                     .bias = random.NormalMatrix(hidden, 1)},
          .output = random.NormalMatrix(bits, hidden)};
}

// The definition, number by number.
MatrixD SlowProjections(const TwoLayerMap& map, const MatrixF& x) {
  MatrixD h(map.bits(), x.cols());
  for (Index column = 0; column < x.cols(); ++column) {
    for (Index bit = 0; bit < map.bits(); ++bit) {
      double sum = map.linear.bias[bit];
      for (Index i = 0; i < x.rows(); ++i) {
        sum += static_cast<double>(map.linear.weights(bit, i)) * x(i, column);
      }
      for (Index unit = 0; unit < map.hidden_units(); ++unit) {
        double input = map.hidden.bias[unit];
        for (Index i = 0; i < x.rows(); ++i) {
          input += static_cast<double>(map.hidden.weights(unit, i)) * x(i, column);
        }
        sum += map.output(bit, unit) * std::max(0.0, input);
      }
      h(bit, column) = sum;
    }
  }
  return h;
}

TEST(TwoLayerEncoder, ProjectsAsItsFormulaSays) {
  const TwoLayerMap map = RandomTwoLayerMap(5, 7, 11, 1);
  Random random(2);
  const MatrixF x = random.NormalMatrix(7, 40);
  const TwoLayerEncoder encoder(map);
  EXPECT_EQ(encoder.dimension(), 7);
  EXPECT_EQ(encoder.bits(), 5);
  EXPECT_LT((encoder.Project(x).cast<double>() - SlowProjections(map, x)).norm(), 1e-4);
}

TEST(TwoLayerEncoder, WhatIsNotANumberStaysSo) {
  const TwoLayerEncoder encoder(RandomTwoLayerMap(2, 3, 4, 1));
  MatrixF x = MatrixF::Ones(3, 1);
  x(1, 0) = NAN;
  EXPECT_TRUE(encoder.Project(x).hasNaN());
  EXPECT_THROW(encoder.Encode(x), Error);
}

TEST(TwoLayerEncoder, RefusesWhatDoesNotFit) {
  const auto refusal = [](const auto& change) {
    TwoLayerMap map = RandomTwoLayerMap(2, 3, 4, 1);
    change(map);
    return RefusalOf([&] { TwoLayerEncoder{map}; });
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal([](TwoLayerMap&) {}), HasSubstr("no error"));
  const auto differ = HasSubstr("do not agree");
  EXPECT_THAT(refusal([](TwoLayerMap& map) { map.linear.bias.resize(3); }), differ);
  EXPECT_THAT(refusal([](TwoLayerMap& map) { map.hidden.weights.setOnes(4, 2); }), differ);
  EXPECT_THAT(refusal([](TwoLayerMap& map) { map.hidden.bias.setOnes(3); }), differ);
  EXPECT_THAT(refusal([](TwoLayerMap& map) { map.output.setOnes(3, 4); }), differ);
  EXPECT_THAT(refusal([](TwoLayerMap& map) { map.output.setOnes(2, 3); }), differ);
  EXPECT_THAT(refusal([](TwoLayerMap& map) {
                map.hidden = {.weights = MatrixF(0, 3), .bias = VectorF(0)};
                map.output.resize(2, 0);
              }),
              differ);
  EXPECT_THAT(refusal([](TwoLayerMap& map) { map.hidden.bias[1] = NAN; }), HasSubstr("not finite"));
}

// The gradient of Σ g·h, which in exact arithmetic is piecewise linear in the map.
TEST(TwoLayerGradient, AgreesWithDifferences) {
  for (const Index hidden : {0, 6}) {
    TwoLayerMap map = RandomTwoLayerMap(3, 4, hidden, 5);
    Random random(6);
    const MatrixF x = random.NormalMatrix(4, 300);
    const MatrixF g = random.NormalMatrix(3, 300);
    const TwoLayerOutput output = ApplyMap(map, x, RunContext());
    EXPECT_LT((output.projections.cast<double>() - SlowProjections(map, x)).norm(), 1e-3);
    TwoLayerMap gradient = GradientOfMap(map, x, output, g, RunContext());
    const auto value = [&] { return SlowProjections(map, x).cwiseProduct(g.cast<double>()).sum(); };
    const auto expect_slopes = [&](auto& numbers, const auto& slopes, const char* name) {
      ASSERT_EQ(numbers.rows(), slopes.rows());
      ASSERT_EQ(numbers.cols(), slopes.cols());
      for (Index i = 0; i < numbers.size(); ++i) {
        const float before = numbers.data()[i];
        const float step = 0x1p-12F;
        numbers.data()[i] = before + step;
        const double above = value();
        numbers.data()[i] = before - step;
        const double slope = (above - value()) / (2 * static_cast<double>(step));
        numbers.data()[i] = before;
        EXPECT_NEAR(slopes.data()[i], slope, 0.02) << name << " " << i;
      }
    };
    expect_slopes(map.linear.weights, gradient.linear.weights, "linear weight");
    expect_slopes(map.linear.bias, gradient.linear.bias, "linear bias");
    expect_slopes(map.hidden.weights, gradient.hidden.weights, "hidden weight");
    expect_slopes(map.hidden.bias, gradient.hidden.bias, "hidden bias");
    expect_slopes(map.output, gradient.output, "output weight");
  }
}

}  // namespace
}  // namespace bitpool
