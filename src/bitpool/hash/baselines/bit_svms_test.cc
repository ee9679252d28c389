#include "bitpool/hash/baselines/bit_svms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <numeric>
#include <string>

#include "bitpool/base/random.h"
#include "bitpool/hash/baselines/liblinear_testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

constexpr double kCost = 100;

// Samples of descending variance and, as targets, noisy half-spaces; samples × bits.
struct Task {
  MatrixF samples, targets;
};

Task MakeTask(Index dimension, Index count, Index bits, uint64_t seed) {
  Random random(seed);
  Task task;
  task.samples = 0.1F * random.NormalMatrix(dimension, count);
  for (Index i = 0; i < dimension; ++i) task.samples.row(i) /= std::sqrt(static_cast<float>(i + 1));
  const MatrixF normals = random.NormalMatrix(dimension, bits);
  const MatrixF noise = 0.03F * random.NormalMatrix(count, bits);
  task.targets = (task.samples.transpose() * normals + noise).unaryExpr([](float value) {
    return value >= 0.05F ? 1.0F : -1.0F;
  });
  return task;
}

MatrixD WithOnes(const MatrixF& samples) {
  MatrixD augmented(samples.rows() + 1, samples.cols());
  augmented << samples.cast<double>(), Eigen::RowVectorXd::Ones(samples.cols());
  return augmented;
}

double Objective(const MatrixD& samples, const VectorD& targets, const VectorD& weights) {
  const VectorD slack =
      (1 - targets.array() * (samples.transpose() * weights).array()).cwiseMax(0.0);
  return 0.5 * weights.squaredNorm() + kCost * slack.squaredNorm();
}

// Newton's method with the whole Hessian and halved steps, in double precision.
VectorD SlowSolution(const MatrixD& samples, const VectorD& targets) {
  VectorD weights = VectorD::Zero(samples.rows());
  for (int step = 0; step < 200; ++step) {
    const VectorD margins = samples.transpose() * weights;
    const VectorD inside =
        (targets.array() * margins.array() < 1).select(VectorD::Ones(margins.size()), 0.0);
    const VectorD gradient =
        weights - 2 * kCost * samples * (inside.cwiseProduct(targets - margins));
    if (gradient.norm() < 1e-9) break;
    const MatrixD hessian = MatrixD::Identity(weights.size(), weights.size()) +
                            2 * kCost * samples * inside.asDiagonal() * samples.transpose();
    const VectorD direction = -hessian.llt().solve(gradient);
    double length = 1;
    const double present = Objective(samples, targets, weights);
    while (length > 1e-12 && Objective(samples, targets, weights + length * direction) > present) {
      length /= 2;
    }
    weights += length * direction;
  }
  return weights;
}

std::vector<Index> AllBits(const MatrixF& targets) {
  std::vector<Index> bits(static_cast<size_t>(targets.cols()));
  std::iota(bits.begin(), bits.end(), 0);
  return bits;
}

class BitSvmsTest : public ::testing::TestWithParam<bool> {
 protected:
  static std::unique_ptr<BitSvms> Make(const MatrixF& samples, const RunContext& context,
                                       double tolerance = 1e-5) {
    const BitSvmOptions options{.cost = kCost, .tolerance = tolerance};
    return GetParam() ? MakeLiblinearSvms(options, samples)
                      : MakeBatchedSvms(options, samples, context);
  }

  static MatrixD Train(const Task& task, int threads = 1, double tolerance = 1e-5) {
    const RunContext context({.threads = threads});
    MatrixD weights = MatrixD::Zero(task.samples.rows() + 1, task.targets.cols());
    Make(task.samples, context, tolerance)
        ->Train(task.targets, AllBits(task.targets), weights, context);
    return weights;
  }
};

INSTANTIATE_TEST_SUITE_P(Solvers, BitSvmsTest, ::testing::Bool(), [](const auto& solver) {
  return std::string(solver.param ? "Liblinear" : "Batched");
});

TEST_P(BitSvmsTest, AgreesWithASlowSolver) {
  struct Case {
    Index dimension, count, bits;
  };
  for (const auto& [dimension, count, bits] :
       {Case{1, 2, 1}, Case{3, 60, 4}, Case{12, 1500, 5}, Case{40, 30, 3}}) {
    Task task = MakeTask(dimension, count, bits, 1);
    task.targets.row(0).setOnes();  // both signs everywhere
    task.targets.row(1).setConstant(-1);
    const MatrixD weights = Train(task);
    const MatrixD samples = WithOnes(task.samples);
    for (Index bit = 0; bit < bits; ++bit) {
      const VectorD targets = task.targets.col(bit).cast<double>();
      const VectorD expected = SlowSolution(samples, targets);
      EXPECT_LT((weights.col(bit) - expected).norm(), 2e-3 * expected.norm())
          << dimension << " " << count << " " << bit;
      EXPECT_LT(Objective(samples, targets, weights.col(bit)),
                (1 + 1e-5) * Objective(samples, targets, expected));
    }
  }
}

TEST_P(BitSvmsTest, TrainsOnlyTheBitsItIsAskedFor) {
  const Task task = MakeTask(5, 200, 3, 2);
  const RunContext context({.threads = 1});
  MatrixD weights = MatrixD::Constant(6, 3, 0.5);
  Make(task.samples, context)->Train(task.targets, {1}, weights, context);
  EXPECT_EQ(weights.col(0), VectorD::Constant(6, 0.5));
  EXPECT_EQ(weights.col(2), VectorD::Constant(6, 0.5));
  EXPECT_LT((weights.col(1) - Train(task).col(1)).norm(), 1e-2 * weights.col(1).norm());
}

TEST_P(BitSvmsTest, StaysAtASolution) {
  const Task task = MakeTask(8, 500, 2, 3);
  const MatrixD solved = Train(task);
  const RunContext context({.threads = 1});
  MatrixD weights = solved;
  Make(task.samples, context, 1e-3)->Train(task.targets, {0, 1}, weights, context);
  EXPECT_EQ(weights, solved);
}

TEST_P(BitSvmsTest, ConstantAndRareBits) {
  Task task = MakeTask(4, 3000, 4, 4);
  task.targets.col(0).setConstant(-1);
  task.targets.col(1).setOnes();
  task.targets.col(2).setConstant(-1);
  task.targets(17, 2) = 1;
  const MatrixD weights = Train(task, 1, 1e-3);
  EXPECT_EQ(weights.col(0), -VectorD::Unit(5, 4));
  EXPECT_EQ(weights.col(1), VectorD::Unit(5, 4));
  const MatrixD samples = WithOnes(task.samples);
  for (const Index bit : {2, 3}) {
    const VectorD targets = task.targets.col(bit).cast<double>();
    EXPECT_LT(Objective(samples, targets, weights.col(bit)),
              1.001 * Objective(samples, targets, SlowSolution(samples, targets)));
  }
}

TEST_P(BitSvmsTest, SamplesThatAreAllZero) {
  Task task{.samples = MatrixF::Zero(3, 10), .targets = MatrixF::Ones(10, 1)};
  task.targets.topRows(3).setConstant(-1);
  const MatrixD weights = Train(task);
  EXPECT_TRUE(weights.topRows(3).isZero(0));
  EXPECT_NEAR(weights(3, 0), 0.4, 1e-3);  // the mean, but for the regularisation
}

TEST_P(BitSvmsTest, AtAnyNumberOfThreads) {
  const Task task = MakeTask(16, 5000, 6, 5);
  const MatrixD one = Train(task, 1, 1e-3);
  EXPECT_TRUE(SameBits(Train(task, 4, 1e-3), one));
}

TEST(BitSvms, StopIsObeyed) {
  const Task task = MakeTask(4, 100, 2, 6);
  std::stop_source stop;
  const RunContext context({.threads = 2, .stop = stop.get_token()});
  const auto batched = MakeBatchedSvms({}, task.samples, context);
  const auto liblinear = MakeLiblinearSvms({}, task.samples);
  stop.request_stop();
  MatrixD weights = MatrixD::Zero(5, 2);
  EXPECT_THROW(batched->Train(task.targets, {0, 1}, weights, context), Error);
  EXPECT_THROW(liblinear->Train(task.targets, {0, 1}, weights, context), Error);
}

}  // namespace
}  // namespace bitpool
