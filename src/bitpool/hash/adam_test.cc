#include "bitpool/hash/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

struct Numbers {
  std::vector<float> values, gradient, mean, square;

  explicit Numbers(size_t size, float value = 1)
      : values(size, value), gradient(size), mean(size), square(size) {}
  AdamParameters Parameters(bool decays = true) {
    return {
        .values = values, .gradient = gradient, .mean = mean, .square = square, .decays = decays};
  }
};

// The publication's algorithm 2, line by line, in double precision.
struct SlowAdam {
  double value = 1, mean = 0, square = 0;

  void Step(double gradient, int number, double rate, double decay) {
    mean = 0.9 * mean + 0.1 * gradient;
    square = 0.999 * square + 0.001 * gradient * gradient;
    const double corrected_mean = mean / (1 - std::pow(0.9, number));
    const double corrected_square = square / (1 - std::pow(0.999, number));
    value -= rate * corrected_mean / (std::sqrt(corrected_square) + 1e-8) + rate * decay * value;
  }
};

TEST(Adam, FollowsThePublication) {
  Numbers numbers(40000);
  std::vector<SlowAdam> slow(numbers.values.size());
  Random random(1);
  for (int step = 1; step <= 20; ++step) {
    const double rate = 0.02 / step;
    for (size_t i = 0; i < slow.size(); ++i) {
      numbers.gradient[i] = static_cast<float>(random.Normal());
      slow[i].Step(numbers.gradient[i], step, rate, 0.5);
    }
    TakeAdamStep({.number = step, .rate = rate, .weight_decay = 0.5}, numbers.Parameters(),
                 RunContext());
  }
  for (size_t i = 0; i < slow.size(); ++i) ASSERT_NEAR(numbers.values[i], slow[i].value, 2e-6) << i;
}

TEST(Adam, DecayLeavesBiasesAlone) {
  Numbers numbers(2);
  TakeAdamStep({.number = 1, .rate = 0.1, .weight_decay = 0.5}, numbers.Parameters(), RunContext());
  EXPECT_FLOAT_EQ(numbers.values[0], 0.95F);
  TakeAdamStep({.number = 2, .rate = 0.1, .weight_decay = 0.5}, numbers.Parameters(false),
               RunContext());
  EXPECT_FLOAT_EQ(numbers.values[0], 0.95F);
}

TEST(Adam, TheRateFallsAsACosine) {
  EXPECT_DOUBLE_EQ(CosineRate(2, 0, 10), 2);
  EXPECT_NEAR(CosineRate(2, 5, 10), 1, 1e-15);
  EXPECT_NEAR(CosineRate(2, 9, 10), 1 + std::cos(0.9 * 3.14159265358979), 1e-12);
}

}  // namespace
}  // namespace bitpool
