#include "bitpool/hash/baselines/graph_codes.h"

#include <gtest/gtest.h>

#include "bitpool/hash/baselines/testing.h"

namespace bitpool {
namespace {

MatrixD Signs(const MatrixD& numbers) {
  return numbers.unaryExpr([](double value) { return value < 0 ? -1.0 : 1.0; });
}

// The definition word by word.
TEST(GraphCodes, ObjectiveIsTheFormula) {
  const MatrixF x = MakeClusters(5, 60, 4, 1);
  const AnchorGraph graph({.anchors = 10}, MatrixColumns(x), RunContext());
  const MatrixD laplacian = graph.TimesLaplacian(MatrixD::Identity(60, 60), RunContext());
  const MatrixD b = Random(1).NormalMatrix(3, 60).cast<double>();
  const GraphCodeOptions options{.balance = 60 * 0.3, .independence = 60 * 0.07};
  const GraphCodeSolver solver(options, graph, b, RunContext());
  const double expected =
      (b * laplacian * b.transpose()).trace() + 0.15 * (b * VectorD::Ones(60)).squaredNorm() +
      0.07 / 4 * (b * b.transpose() - 60 * MatrixD::Identity(3, 3)).squaredNorm();
  EXPECT_NEAR(solver.Objective(), expected, 1e-9 * expected);
  EXPECT_NEAR(solver.Lagrangian(), expected, 1e-9 * expected) << "at its start";
}

// What each part improves never gets worse; only the multipliers may raise it.
TEST(GraphCodes, NoStepRaisesTheLagrangian) {
  const MatrixF x = MakeClusters(8, 300, 6, 2);
  const AnchorGraph graph({.anchors = 30}, MatrixColumns(x), RunContext());
  for (const double weight : {1e-3, 0.1, 10.0}) {
    const GraphCodeOptions options{
        .box = 10 * weight, .sphere = weight, .balance = weight, .independence = weight};
    const RunContext context;
    // In the box and on the sphere, as the codes it begins with always are.
    const MatrixD start = Signs(Random(3).NormalMatrix(5, 300).cast<double>());
    GraphCodeSolver solver(options, graph, start, context);
    double last = solver.Lagrangian();
    const auto expect_not_above = [&](const char* part, int step) {
      const double now = solver.Lagrangian();
      EXPECT_LE(now, last + 1e-9 * std::abs(last)) << part << ", step " << step;
      last = now;
    };
    double improved = 0;
    for (int step = 0; step < 30; ++step) {
      solver.ImproveBox();
      expect_not_above("box", step);
      solver.ImproveSphere();
      expect_not_above("sphere", step);
      solver.ImproveCodes();
      improved += last - solver.Lagrangian();
      expect_not_above("codes", step);
      solver.UpdateMultipliers();
      last = solver.Lagrangian();
    }
    EXPECT_GT(improved, 0);
  }
}

// A graph of two parts that nothing ties together: the one balanced bit that costs nothing says
// which part a sample is of.
TEST(GraphCodes, ABitTellsTwoPartsApart) {
  const Index half = 20;
  Eigen::MatrixXi nearest = Eigen::MatrixXi::Zero(1, 2 * half);
  nearest.rightCols(half).setOnes();
  const AnchorGraph graph(2, nearest, MatrixD::Ones(1, 2 * half));
  MatrixD start = MatrixD::Ones(1, 2 * half);
  for (Index i = 0; i < half; ++i) start(0, i) = i < half / 2 + 2 ? -1 : 1;
  for (Index i = half; i < 2 * half; ++i) start(0, i) = i < half + half / 2 ? 1 : -1;
  start.rightCols(half / 2 - 3).setOnes();
  const RunContext context;
  GraphCodeSolver solver({}, graph, start, context);
  for (int step = 0; step < 50 && solver.Step(); ++step) {
  }
  MatrixD expected = MatrixD::Ones(1, 2 * half);
  expected.leftCols(half) *= -1;
  EXPECT_EQ(Signs(solver.codes()), expected);
}

TEST(GraphCodes, ConstraintsComeTrue) {
  const MatrixF x = MakeClusters(8, 200, 6, 2);
  const AnchorGraph graph({.anchors = 30}, MatrixColumns(x), RunContext());
  const RunContext context;
  const MatrixD start = Signs(Random(3).NormalMatrix(4, 200).cast<double>());
  const GraphCodeOptions options{.box = 5, .sphere = 5, .tolerance = 1e-3};
  GraphCodeSolver solver(options, graph, start, context);
  int steps = 0;
  while (steps < 2000 && solver.Step()) ++steps;
  EXPECT_LT(steps, 2000);
  EXPECT_LT((solver.codes() - Signs(solver.codes())).norm(), 0.1 * solver.codes().norm());
}

TEST(GraphCodes, RefuseBadOptions) {
  for (const GraphCodeOptions& bad :
       {GraphCodeOptions{.box = 0}, GraphCodeOptions{.sphere = -1}, GraphCodeOptions{.balance = -1},
        GraphCodeOptions{.steps = 0}}) {
    EXPECT_THROW(bad.Validate(), Error);
  }
}

}  // namespace
}  // namespace bitpool
