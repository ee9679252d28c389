#include "bitpool/hash/baselines/kernel_bit_search.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "bitpool/hash/baselines/pairwise_testing.h"

namespace bitpool {
namespace {

constexpr int kBits = 5;

MatrixD CentredFeatures(Index anchors, const Labels& labels, uint64_t seed) {
  const MatrixD features = ClassFeatures(anchors, labels, seed).cast<double>();
  const VectorD mean = features.rowwise().mean();
  return 0.2 * (features.colwise() - mean);
}

VectorD SignsOfAll(const VectorD& projections) {
  VectorD signs(projections.size());
  for (Index i = 0; i < signs.size(); ++i) signs[i] = projections[i] >= 0 ? 1 : -1;
  return signs;
}

// The same with the matrix R itself.
struct SlowSearch {
  MatrixD features;
  MatrixD residue;

  SlowSearch(MatrixD f, const Labels& labels)
      : features(std::move(f)), residue(kBits * DenseSimilarity(labels)) {}

  VectorD Spectral() const {
    const MatrixD left = features * residue * features.transpose();
    const MatrixD right = features * features.transpose();
    const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixD> solver(left, right);
    const VectorD a = solver.eigenvectors().rightCols(1);
    return a * std::sqrt(static_cast<double>(features.cols()) / a.dot(right * a));
  }

  VectorD Smooth(const VectorD& weights) const {
    const VectorD projections = features.transpose() * weights;
    return (2 / (1 + (-projections.array()).exp()) - 1).matrix();
  }

  double Loss(const VectorD& weights) const {
    const VectorD y = Smooth(weights);
    return -y.dot(residue * y);
  }

  VectorD Gradient(const VectorD& weights) const {
    const VectorD y = Smooth(weights);
    const VectorD product = residue * y;
    return -features * product.cwiseProduct((1 - y.array().square()).matrix());
  }

  // Nesterov's method as the authors wrote it down, without the end by tolerance.
  VectorD Descend(const VectorD& start, int iterations) const {
    VectorD a0 = start, a1 = start;
    std::vector<double> delta = {0, 1};
    double beta = 1;
    for (int t = 0; t < iterations; ++t) {
      const auto now = static_cast<size_t>(t) + 1;
      const VectorD v = a1 + (delta[now - 1] - 1) / delta[now] * (a1 - a0);
      const VectorD g = Gradient(v);
      VectorD z = v - g / beta;
      while (Loss(z) > Loss(v) + g.dot(z - v) + beta / 2 * (z - v).squaredNorm()) {
        beta *= 2;
        z = v - g / beta;
      }
      a0 = a1;
      a1 = z;
      delta.push_back((1 + std::sqrt(1 + 4 * delta[now] * delta[now])) / 2);
    }
    return a1;
  }

  double Agreement(const VectorD& weights) const {
    const VectorD h = SignsOfAll(features.transpose() * weights);
    return h.dot(residue * h);
  }

  void Take(const VectorD& weights) {
    const VectorD h = SignsOfAll(features.transpose() * weights);
    residue -= h * h.transpose();
  }
};

TEST(LabelResidue, AgreesWithTheMatrix) {
  const Labels labels = RandomLabels(60, 8, 1);
  const PairwiseLabels pairs(labels);
  LabelResidue residue(pairs, kBits);
  MatrixD dense = kBits * DenseSimilarity(labels);
  Random random(2);
  for (int bit = 0; bit <= kBits; ++bit) {
    const VectorD v = random.NormalMatrix(60, 1).cast<double>();
    EXPECT_LT((residue.Multiply(v) - dense * v).norm(), 1e-9);
    EXPECT_NEAR(residue.Quadratic(v), v.dot(dense * v), 1e-8);
    EXPECT_NEAR(residue.squared_norm(), dense.squaredNorm(), 1e-8);
    if (bit == kBits) break;
    const VectorD signs = SignsOfAll(v);
    residue.Subtract(signs);
    dense -= signs * signs.transpose();
  }
}

class KernelBitSearchTest : public ::testing::TestWithParam<bool> {
 protected:
  const Labels labels_ = GetParam() ? RandomLabels(150, 6, 4) : Labels::Single([] {
    std::vector<int32_t> classes;
    for (int32_t i = 0; i < 150; ++i) classes.push_back(i * i % 7);
    return classes;
  }());
  const PairwiseLabels pairs_ = PairwiseLabels(labels_);
  const MatrixD features_ = CentredFeatures(12, labels_, 5);
  const RunContext context_;
};

INSTANTIATE_TEST_SUITE_P(SeveralClasses, KernelBitSearchTest, ::testing::Bool());

TEST_P(KernelBitSearchTest, EveryBitAgreesWithTheMatrix) {
  KernelBitSearch search(features_, pairs_, kBits, context_);
  SlowSearch slow(features_, labels_);
  for (int i = 0; i < kBits; ++i) {
    const KernelBit bit = search.Spectral();
    const VectorD spectral = slow.Spectral();
    const double sign = bit.weights.dot(spectral) > 0 ? 1 : -1;
    EXPECT_LT((sign * bit.weights - spectral).norm(), 1e-6 * spectral.norm());
    EXPECT_LT((bit.projections - features_.transpose() * bit.weights).norm(), 1e-9);
    EXPECT_NEAR(bit.projections.squaredNorm(), 150, 1e-8);
    EXPECT_NEAR(search.Agreement(bit), slow.Agreement(bit.weights), 1e-6);

    for (const int iterations : {1, 2, 7}) {
      const KernelBit smooth = search.Smooth(bit, iterations);
      const VectorD expected = slow.Descend(bit.weights, iterations);
      EXPECT_LT((smooth.weights - expected).norm(), 1e-7 * expected.norm()) << iterations;
      EXPECT_LT((smooth.projections - features_.transpose() * smooth.weights).norm(), 1e-8);
      EXPECT_LE(search.Loss(smooth.projections), search.Loss(bit.projections));
    }
    search.Take(bit);
    slow.Take(bit.weights);
    EXPECT_NEAR(search.Objective(), slow.residue.squaredNorm() / (150.0 * 150 * kBits * kBits),
                1e-12);
  }
}

TEST_P(KernelBitSearchTest, GradientIsThatOfTheLoss) {
  KernelBitSearch search(features_, pairs_, kBits, context_);
  search.Take(search.Spectral());
  const SlowSearch once = [&] {
    SlowSearch slow(features_, labels_);
    slow.Take(slow.Spectral());
    return slow;
  }();
  const VectorD a = Random(3).NormalMatrix(12, 1).cast<double>();
  const auto loss = [&](const VectorD& weights) {
    return search.Loss(features_.transpose() * weights);
  };
  EXPECT_NEAR(loss(a), once.Loss(a), 1e-8);
  const KernelBitSearch::Slope slope = search.LossAndGradient(features_.transpose() * a);
  EXPECT_NEAR(slope.loss, loss(a), 1e-8);
  for (Index i = 0; i < a.size(); ++i) {
    const double step = 1e-5;
    const VectorD move = step * VectorD::Unit(a.size(), i);
    const double numeric = (loss(a + move) - loss(a - move)) / (2 * step);
    EXPECT_NEAR(slope.gradient[i], numeric, 1e-5 * slope.gradient.norm());
  }
}

TEST_P(KernelBitSearchTest, DescendsToAStandstill) {
  const KernelBitSearch search(features_, pairs_, kBits, context_);
  const KernelBit start = search.Spectral();
  const KernelBit end = search.Smooth(start, 100000);
  EXPECT_LT(search.Loss(end.projections), search.Loss(start.projections));
  // It ended by the tolerance: more iterations change nothing.
  EXPECT_EQ(search.Smooth(start, 200000).weights, end.weights);
  EXPECT_EQ(search.Smooth(start, 0).weights, start.weights);
}

TEST(KernelBitSearch, FeaturesThatDependOnEachOther) {
  const Labels labels = RandomLabels(40, 4, 1);
  const PairwiseLabels pairs(labels);
  MatrixD features = CentredFeatures(6, labels, 2);
  features.row(5) = features.row(2);
  const RunContext context;
  const KernelBit bit = KernelBitSearch(features, pairs, kBits, context).Spectral();
  const MatrixD independent = features.topRows(5);
  const KernelBit expected = KernelBitSearch(independent, pairs, kBits, context).Spectral();
  const double sign = bit.projections.dot(expected.projections) > 0 ? 1 : -1;
  EXPECT_LT((sign * bit.projections - expected.projections).norm(), 1e-6);

  const MatrixD nothing = MatrixD::Zero(6, 40);
  EXPECT_EQ(KernelBitSearch(nothing, pairs, kBits, context).Spectral().weights, VectorD::Zero(6));
}

}  // namespace
}  // namespace bitpool
