#include "bitpool/hash/class_whitening.h"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include "bitpool/hash/label_targets.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

ViewWhitening Whiten(const MatrixF& x, const Labels& labels, double epsilon) {
  const RunContext context;
  const MatrixColumns vectors(x);
  return WhitenByClasses({.epsilon = epsilon}, ComputeMoments(vectors, context),
                         ComputeCrossMoments(LabelTargets(labels, x.cols()), vectors, context));
}

// A(S + ε tr(S)/D I)Aᵀ, which is to be the identity.
MatrixD Whitened(const ViewWhitening& whitening, MatrixD within, double epsilon) {
  within.diagonal().array() += epsilon * within.trace() / static_cast<double>(within.rows());
  const MatrixD a = whitening.forward.weights.cast<double>();
  return a * within * a.transpose();
}

// What is left of x when the best linear prediction from y, with a constant, is subtracted.
MatrixD ResidualScatter(const MatrixD& x, const MatrixD& y) {
  MatrixD inputs(y.rows() + 1, y.cols());
  inputs << y, MatrixD::Ones(1, y.cols());
  const MatrixD weights =
      inputs.transpose().completeOrthogonalDecomposition().solve(x.transpose()).transpose();
  const MatrixD rest = x - weights * inputs;
  return rest * rest.transpose() / static_cast<double>(x.cols());
}

// Two classes in two dimensions: (0, 0), (2, 0) and (10, 1), (12, 3). About the means (1, 0) and
// (11, 2) they are (∓1, 0) and ±(1, 1), so S = [1 ½; ½ ½].
TEST(ClassWhitening, OfAHandWorkedCase) {
  MatrixF x(2, 4);
  x << 0, 2, 10, 12, 0, 0, 1, 3;
  const ViewWhitening whitening = Whiten(x, Labels::Single({0, 0, 1, 1}), 0.2);
  MatrixD within(2, 2);
  within << 1, 0.5, 0.5, 0.5;
  EXPECT_LT((Whitened(whitening, within, 0.2) - MatrixD::Identity(2, 2)).norm(), 1e-5);
  const VectorF mean = x.rowwise().mean();
  EXPECT_LT((whitening.forward.weights * mean + whitening.forward.bias).norm(), 1e-5F);
}

TEST(ClassWhitening, TakesOffWhatTheLabelsExplainWhereSomeHaveSeveralOrNone) {
  Random random(3);
  const Index count = 200;
  MatrixF x = random.NormalMatrix(5, count);
  std::vector<std::vector<int32_t>> classes(count);
  MatrixD y = MatrixD::Zero(3, count);
  for (Index i = 0; i < count; ++i) {
    for (int32_t label = 0; label < 3; ++label) {
      if (random.Uniform() < 0.6) continue;
      classes[static_cast<size_t>(i)].push_back(label);
      y(label, i) = 1;
      x(label, i) += 4;
    }
  }
  const ViewWhitening whitening = Whiten(x, Labels::Multi(classes), 0.1);
  const MatrixD within = ResidualScatter(x.cast<double>(), y);
  EXPECT_LT((Whitened(whitening, within, 0.1) - MatrixD::Identity(5, 5)).norm(), 1e-4);
}

TEST(ClassWhitening, LeavesVectorsThatAreAsTheirLabelsSay) {
  MatrixF x(2, 4);
  x << 1, 1, 5, 5, 2, 2, 3, 3;
  const ViewWhitening whitening = Whiten(x, Labels::Single({0, 0, 1, 1}), 0.5);
  const MatrixF weights = whitening.forward.weights;
  EXPECT_LT((weights - weights(0, 0) * MatrixF::Identity(2, 2)).norm(), 1e-5F);
  EXPECT_GT(weights(0, 0), 0);
}

}  // namespace
}  // namespace bitpool
