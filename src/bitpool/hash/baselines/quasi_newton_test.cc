#include "bitpool/hash/baselines/quasi_newton.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

TEST(QuasiNewton, Parabola) {
  Random random(1);
  const MatrixD mix = random.NormalMatrix(30, 40).cast<double>();
  const MatrixD curvature = mix * mix.transpose();
  const VectorD centre = random.NormalMatrix(30, 1).cast<double>();
  const auto function = [&](const VectorD& x, VectorD& gradient) {
    gradient = 2 * (curvature * (x - centre));
    return (x - centre).dot(curvature * (x - centre));
  };
  VectorD x = VectorD::Zero(30);
  const double value =
      MinimiseQuasiNewton({.max_iterations = 500, .gradient_tolerance = 1e-8}, function, x);
  EXPECT_LT((x - centre).norm(), 1e-7);
  EXPECT_LT(value, 1e-12);
}

TEST(QuasiNewton, RosenbrocksValley) {
  const auto function = [](const VectorD& x, VectorD& gradient) {
    const double bend = x[1] - x[0] * x[0];
    gradient[0] = -2 * (1 - x[0]) - 400 * x[0] * bend;
    gradient[1] = 200 * bend;
    return (1 - x[0]) * (1 - x[0]) + 100 * bend * bend;
  };
  VectorD x(2);
  x << -1.2, 1;
  MinimiseQuasiNewton({.max_iterations = 200, .gradient_tolerance = 1e-9}, function, x);
  EXPECT_NEAR(x[0], 1, 1e-7);
  EXPECT_NEAR(x[1], 1, 1e-7);
}

// Every step of a function with hills and hollows leads down.
TEST(QuasiNewton, NeverAboveTheStart) {
  Random random(2);
  for (int trial = 0; trial < 50; ++trial) {
    VectorD x = 3 * random.NormalMatrix(5, 1).cast<double>();
    const auto function = [](const VectorD& at, VectorD& gradient) {
      gradient = 0.2 * at.array() + 3 * (3 * at.array()).cos();
      return 0.1 * at.squaredNorm() + (3 * at.array()).sin().sum();
    };
    VectorD gradient(5);
    double previous = function(x, gradient);
    for (int step = 0; step < 30; ++step) {
      const double value =
          MinimiseQuasiNewton({.max_iterations = 1, .gradient_tolerance = 1e-9}, function, x);
      EXPECT_LE(value, previous);
      EXPECT_EQ(value, function(x, gradient));
      previous = value;
    }
    MinimiseQuasiNewton({.max_iterations = 100, .gradient_tolerance = 1e-9}, function, x);
    function(x, gradient);
    EXPECT_LT(gradient.norm(), 1e-6);
  }
}

TEST(QuasiNewton, StaysAtAMinimumAndWithoutSteps) {
  int calls = 0;
  const auto function = [&](const VectorD& x, VectorD& gradient) {
    ++calls;
    gradient = 2 * x;
    return x.squaredNorm();
  };
  VectorD x = VectorD::Zero(3);
  EXPECT_EQ(MinimiseQuasiNewton({}, function, x), 0);
  EXPECT_EQ(calls, 1);
  x.setOnes();
  EXPECT_EQ(MinimiseQuasiNewton({.max_iterations = 0}, function, x), 3);
  EXPECT_EQ(x, VectorD::Ones(3));
}

}  // namespace
}  // namespace bitpool
