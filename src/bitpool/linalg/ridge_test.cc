#include "bitpool/linalg/ridge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <limits>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

struct Problem {
  MatrixF x, t;

  CrossMoments Moments() const {
    CrossMoments moments(x.rows(), t.rows());
    moments.Add(x, t);
    return moments;
  }
};

Problem MakeProblem(Index inputs, Index targets, Index count, uint64_t seed, float mean = 0) {
  Random random(seed);
  Problem problem;
  problem.x = random.NormalMatrix(inputs, count);
  problem.x.array() += mean;
  const MatrixF truth = random.NormalMatrix(targets, inputs);
  problem.t = truth * problem.x + 0.1F * random.NormalMatrix(targets, count);
  problem.t.array() += 3;
  return problem;
}

struct Reference {
  MatrixD weights;
  VectorD bias;
};

// The same minimisation written as one least squares problem in [W c], with √ridge·I below X for W
// alone, solved by QR. A complete orthogonal decomposition gives the minimum norm of [W c].
Reference LeastSquares(const Problem& problem, double ridge) {
  const Index inputs = problem.x.rows(), count = problem.x.cols(), targets = problem.t.rows();
  MatrixD system = MatrixD::Zero(count + inputs, inputs + 1);
  system.topLeftCorner(count, inputs) = problem.x.transpose().cast<double>();
  system.topRightCorner(count, 1).setOnes();
  system.bottomLeftCorner(inputs, inputs) = std::sqrt(ridge) * MatrixD::Identity(inputs, inputs);
  MatrixD rhs = MatrixD::Zero(count + inputs, targets);
  rhs.topRows(count) = problem.t.transpose().cast<double>();
  const MatrixD solved = system.completeOrthogonalDecomposition().solve(rhs);
  return {.weights = solved.topRows(inputs).transpose(), .bias = solved.row(inputs).transpose()};
}

double Objective(const Problem& problem, const MatrixD& weights, const VectorD& bias,
                 double ridge) {
  const MatrixD predicted = (weights * problem.x.cast<double>()).colwise() + bias;
  return (problem.t.cast<double>() - predicted).squaredNorm() + ridge * weights.squaredNorm();
}

TEST(Ridge, AgreesWithLeastSquares) {
  struct Case {
    Index inputs, targets, count;
    double ridge;
  };
  for (const auto& [inputs, targets, count, ridge] :
       {Case{1, 1, 30, 0}, Case{6, 2, 200, 0}, Case{6, 2, 200, 5.0}, Case{20, 3, 8, 0.5},
        Case{15, 4, 1, 2.0}, Case{3, 1, 500, 1e6}}) {
    const Problem problem = MakeProblem(inputs, targets, count, 1);
    const Reference expected = LeastSquares(problem, ridge);
    const LinearMap map = SolveRidge(problem.Moments(), ridge);
    EXPECT_LT((map.weights.cast<double>() - expected.weights).norm(),
              1e-5 * (1 + expected.weights.norm()))
        << inputs << " " << count << " " << ridge;
    EXPECT_LT((map.bias.cast<double>() - expected.bias).norm(), 1e-5 * (1 + expected.bias.norm()));
  }
}

TEST(Ridge, NoSmallChangeIsBetter) {
  const Problem problem = MakeProblem(5, 3, 60, 2, 4);
  const double ridge = 7;
  const LinearMap map = SolveRidge(problem.Moments(), ridge);
  const MatrixD weights = map.weights.cast<double>();
  const VectorD bias = map.bias.cast<double>();
  const double best = Objective(problem, weights, bias, ridge);
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    // Jointly in both, along directions in which the objective is far from flat.
    const MatrixD weights_step = 1e-2 * random.NormalMatrix(3, 5).cast<double>();
    const VectorD bias_step = 1e-2 * random.NormalMatrix(3, 1).cast<double>();
    EXPECT_GT(Objective(problem, weights + weights_step, bias + bias_step, ridge), best);
    EXPECT_GT(Objective(problem, weights - weights_step, bias - bias_step, ridge), best);
    EXPECT_GT(Objective(problem, weights, bias + bias_step, ridge), best);
  }
}

TEST(Ridge, ALargeMeanCostsNothing) {
  const Problem problem = MakeProblem(4, 2, 300, 4, 1e4F);
  const Problem near = {.x = problem.x.array() - 1e4F, .t = problem.t};
  const LinearMap far_map = SolveRidge(problem.Moments(), 1);
  const LinearMap near_map = SolveRidge(near.Moments(), 1);
  EXPECT_LT((far_map.weights - near_map.weights).norm(), 1e-4F);
  // At the mean of the inputs both predict the mean of the targets.
  const VectorD mean = problem.x.cast<double>().rowwise().mean();
  const VectorD predicted = far_map.weights.cast<double>() * mean + far_map.bias.cast<double>();
  EXPECT_LT((predicted - problem.t.cast<double>().rowwise().mean()).norm(), 1e-2);
}

TEST(Ridge, WithoutFullRankTheSmallestWeightsAreTaken) {
  // Fewer samples than inputs, and an input that is the sum of two others. Rounding makes the
  // smallest eigenvalue negative for some of the seeds and positive for others.
  std::vector<Problem> problems;
  for (uint64_t seed = 5; seed < 15; ++seed) {
    problems.push_back(MakeProblem(12, 2, 6, seed));
    Problem& dependent = problems.emplace_back(MakeProblem(5, 2, 100, seed));
    dependent.x.row(4) = dependent.x.row(0) + dependent.x.row(1);
  }
  for (const Problem& problem : problems) {
    const CrossMoments moments = problem.Moments();
    const LinearMap map = SolveRidge(moments, 0);
    // The minimum norm W over centred data, from a decomposition that needs no threshold.
    const MatrixD x = problem.x.cast<double>();
    const MatrixD t = problem.t.cast<double>();
    const MatrixD x_centred = x.colwise() - x.rowwise().mean().eval();
    const MatrixD t_centred = t.colwise() - t.rowwise().mean().eval();
    Eigen::CompleteOrthogonalDecomposition<MatrixD> cod;
    cod.setThreshold(1e-6);
    cod.compute(x_centred.transpose());
    const MatrixD expected = cod.solve(t_centred.transpose()).transpose();
    EXPECT_LT((map.weights.cast<double>() - expected).norm(), 1e-4 * expected.norm());
    // A ridge that rounding drowns gives the same.
    const LinearMap tiny = SolveRidge(moments, 1e-12);
    EXPECT_LT((tiny.weights - map.weights).norm(), 1e-4F * map.weights.norm());
  }
}

TEST(Ridge, ConstantInputsGiveTheMeanOfTheTargets) {
  Problem problem = MakeProblem(3, 2, 50, 7);
  problem.x.setConstant(5);
  for (const double ridge : {0.0, 1.0}) {
    const LinearMap map = SolveRidge(problem.Moments(), ridge);
    EXPECT_TRUE(map.weights.isZero(0));
    EXPECT_LT((map.bias - problem.t.rowwise().mean()).norm(), 1e-4F);
  }
}

TEST(Ridge, OneFactorServesManyTargets) {
  const Problem a = MakeProblem(8, 2, 90, 8);
  const Problem b = {.x = a.x, .t = a.t.array().square()};
  const RidgeSolver solver(a.Moments().inputs(), 0.3);
  for (const Problem& problem : {a, b}) {
    const LinearMap once = solver.Solve(problem.Moments().cross());
    const LinearMap direct = SolveRidge(problem.Moments(), 0.3);
    EXPECT_TRUE(SameBits(once.weights, direct.weights));
    EXPECT_TRUE(SameBits(once.bias, direct.bias));
  }
}

TEST(Ridge, RefusesWhatHasNoMeaning) {
  const CrossMoments moments = MakeProblem(2, 1, 10, 9).Moments();
  EXPECT_THAT(RefusalOf([&] { SolveRidge(moments, -1); }), HasSubstr("ridge: expected"));
  EXPECT_THROW(SolveRidge(moments, std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_THROW(SolveRidge(moments, std::numeric_limits<double>::infinity()), Error);
  EXPECT_THAT(RefusalOf([] { SolveRidge(CrossMoments(2, 1), 1); }), HasSubstr("needs samples"));
  CrossScatter other(3, 1);
  EXPECT_THROW(RidgeSolver(moments.inputs(), 1).Solve(other), Error);
}

}  // namespace
}  // namespace bitpool
