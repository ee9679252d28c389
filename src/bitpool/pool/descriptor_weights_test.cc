#include "bitpool/pool/descriptor_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <vector>

#include "bitpool/linalg/testing.h"
#include "bitpool/pool/pooling_system.h"
#include "bitpool/pool/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

constexpr PoolingSolver kSolvers[] = {PoolingSolver::kAuto, PoolingSolver::kConjugateGradients,
                                      PoolingSolver::kDual, PoolingSolver::kDirect};

VectorD SlowWeights(const VectorD& attention, const MatrixD& v) {
  const VectorD exponentials = (v.transpose() * attention).array().exp();
  return exponentials / exponentials.mean();
}

// φ by its definition, densely and in double precision.
VectorD SlowPooled(const MatrixD& coupling, const VectorD& term, double gamma, double mu,
                   const VectorD& attention, const MatrixD& v) {
  const VectorD weights = SlowWeights(attention, v);
  MatrixD matrix = coupling + gamma * v * weights.asDiagonal() * v.transpose();
  matrix.diagonal().array() += gamma * mu;
  return matrix.ldlt().solve(gamma * v * weights + term);
}

VectorD SlowPooled(double mu, const VectorD& attention, const MatrixD& v) {
  return SlowPooled(MatrixD::Zero(v.rows(), v.rows()), VectorD::Zero(v.rows()), 1, mu, attention,
                    v);
}

VectorF RandomAttention(Index dimension, uint64_t seed) {
  Random random(seed);
  return random.NormalMatrix(dimension, 1);
}

TEST(DescriptorWeights, AreExponentialsWithTheMeanOne) {
  const MatrixF v = RectifiedFeatures(12, 30, 1);
  const VectorF a = 3 * RandomAttention(12, 2);
  const VectorD weights = DescriptorWeights(a, v);
  EXPECT_LT((weights - SlowWeights(a.cast<double>(), v.cast<double>())).norm(), 1e-10);
  EXPECT_NEAR(weights.mean(), 1, 1e-12);
  // Worked by hand: exponentials 1 and 3.
  MatrixF two(1, 2);
  two << 0, 1;
  const VectorD by_hand = DescriptorWeights(VectorF::Constant(1, std::log(3.0F)), two);
  EXPECT_NEAR(by_hand[0], 0.5, 1e-6);
  EXPECT_NEAR(by_hand[1], 1.5, 1e-6);
}

TEST(DescriptorWeights, DoNotOverflow) {
  const MatrixF v = RectifiedFeatures(12, 30, 1);
  const VectorD weights = DescriptorWeights(1e6F * RandomAttention(12, 2), v);
  EXPECT_TRUE(weights.allFinite());
  EXPECT_NEAR(weights.sum(), 30, 1e-9);
}

TEST(PoolingSystem, WithAnAttentionAllSolversAgreeWithTheDefinition) {
  for (const auto& [dimension, count] :
       std::vector<std::pair<Index, Index>>{{20, 60}, {20, 9}, {20, 1}, {7, 400}}) {
    const MatrixF v = RectifiedFeatures(dimension, count, 3);
    const VectorF a = RandomAttention(dimension, 4);
    const LinearMap encoder = RandomMap(4, dimension, 5);
    const LinearMap decoder = RandomMap(dimension, 4, 6);
    for (const Coupling& coupling :
         {Coupling::None(dimension), Coupling::Autoencoder(encoder, decoder)}) {
      const VectorD expected =
          SlowPooled(coupling.DenseMatrix(), coupling.RightHandSide({}).cast<double>(), 2, 3,
                     a.cast<double>(), v.cast<double>());
      for (const PoolingSolver solver : kSolvers) {
        const PoolingOptions options = {.mu = 3, .gamma = 2, .solver = solver};
        const VectorF pooled = PoolingSystem(coupling, options, a).Pool(v);
        EXPECT_LT((pooled.cast<double>() - expected).norm(), 1e-4 * expected.norm())
            << "D " << dimension << ", n " << count << ", solver " << static_cast<int>(solver);
      }
    }
  }
}

TEST(PoolingSystem, AnAttentionOfZeroChangesNothing) {
  const MatrixF v = RectifiedFeatures(16, 40, 7);
  const VectorF plain = PoolingSystem(Coupling::None(16), {}).Pool(v);
  const VectorF zero = PoolingSystem(Coupling::None(16), {}, VectorF::Zero(16)).Pool(v);
  EXPECT_LT((plain - zero).norm(), 1e-5F * plain.norm());
  const VectorF other = PoolingSystem(Coupling::None(16), {}, RandomAttention(16, 1)).Pool(v);
  EXPECT_GT((plain - other).norm(), 1e-2F * plain.norm());
}

// The gradient of gᵀφ, against differences of the definition in double precision.
TEST(PoolingGradient, AgreesWithDifferences) {
  for (const auto& [dimension, count] :
       std::vector<std::pair<Index, Index>>{{10, 40}, {10, 6}, {5, 1}}) {
    const MatrixF v = RectifiedFeatures(dimension, count, 8);
    const VectorF a = RandomAttention(dimension, 9);
    const VectorF g = RandomAttention(dimension, 10);
    const double mu = 2;
    const auto value = [&](const VectorD& attention, double log_mu) {
      return g.cast<double>().dot(SlowPooled(std::exp(log_mu), attention, v.cast<double>()));
    };
    const double step = 1e-5;
    VectorD expected(dimension);
    for (Index i = 0; i < dimension; ++i) {
      VectorD moved = a.cast<double>();
      moved[i] += step;
      const double above = value(moved, std::log(mu));
      moved[i] -= 2 * step;
      expected[i] = (above - value(moved, std::log(mu))) / (2 * step);
    }
    const double expected_mu = (value(a.cast<double>(), std::log(mu) + step) -
                                value(a.cast<double>(), std::log(mu) - step)) /
                               (2 * step);
    for (const PoolingSolver solver : kSolvers) {
      const PoolingSystem system(Coupling::None(dimension),
                                 {.mu = mu, .tolerance = 1e-6, .solver = solver}, a);
      const PoolingGradient gradient = system.Gradient(v, system.Pool(v), g);
      EXPECT_LT((gradient.attention - expected).norm(), 1e-4 * expected.norm() + 1e-6)
          << "D " << dimension << ", n " << count << ", solver " << static_cast<int>(solver);
      EXPECT_NEAR(gradient.log_mu, expected_mu, 1e-4 * std::abs(expected_mu));
    }
  }
}

TEST(PoolingGradient, WithoutAnAttentionIsThatAtZero) {
  const MatrixF v = RectifiedFeatures(10, 30, 8);
  const VectorF g = RandomAttention(10, 10);
  const PoolingSystem none(Coupling::None(10), {});
  const PoolingSystem zero(Coupling::None(10), {}, VectorF::Zero(10));
  const PoolingGradient a = none.Gradient(v, none.Pool(v), g);
  const PoolingGradient b = zero.Gradient(v, zero.Pool(v), g);
  EXPECT_LT((a.attention - b.attention).norm(), 1e-4 * b.attention.norm());
  EXPECT_NEAR(a.log_mu, b.log_mu, 1e-4 * std::abs(b.log_mu));
  EXPECT_GT(b.attention.norm(), 0);
}

TEST(PoolingSystem, RefusesAttentionsThatDoNotFit) {
  EXPECT_THAT(RefusalOf([] { PoolingSystem(Coupling::None(3), {}, VectorF::Ones(2)); }),
              HasSubstr("attention"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(RefusalOf([&] { PoolingSystem(Coupling::None(3), {}, VectorF::Constant(3, nan)); }),
              HasSubstr("attention"));
  const PoolingSystem system(Coupling::None(3), {}, VectorF::Ones(3));
  EXPECT_THAT(RefusalOf([&] { system.Pool(MatrixF(3, 0)); }), HasSubstr("no descriptors"));
  MatrixF v = MatrixF::Ones(3, 5);
  const PooledStatistics statistics = ComputeStatistics(v);
  EXPECT_THAT(RefusalOf([&] { system.SolveFromGram(statistics.gram, statistics.sum); }),
              HasSubstr("needs the descriptors"));
  EXPECT_THAT(RefusalOf([&] { system.Gradient(v, VectorF::Ones(3), VectorF::Ones(2)); }),
              HasSubstr("gradient"));
  v(1, 2) = nan;
  EXPECT_THAT(RefusalOf([&] { system.Pool(v); }), HasSubstr("column 2, row 1"));
}

}  // namespace
}  // namespace bitpool
