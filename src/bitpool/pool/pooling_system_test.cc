#include "bitpool/pool/pooling_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "bitpool/linalg/procrustes.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/pool/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

std::span<const float> SpanOf(const VectorF& v) {
  return {v.data(), static_cast<size_t>(v.size())};
}

// The system of the definition, in double precision.
struct System {
  MatrixD matrix;
  VectorD rhs;

  VectorD Solution() const { return matrix.ldlt().solve(rhs); }
  double RelativeResidual(const VectorF& x) const {
    return (rhs - matrix * x.cast<double>()).norm() / rhs.norm();
  }
};

System SystemOf(const Coupling& coupling, const PoolingOptions& options, const MatrixF& v,
                const VectorF& label = VectorF()) {
  const MatrixD exact = v.cast<double>();
  System system = {
      coupling.DenseMatrix() + options.gamma * exact * exact.transpose(),
      options.gamma * exact.rowwise().sum() + coupling.RightHandSide(SpanOf(label)).cast<double>()};
  system.matrix.diagonal().array() += options.gamma * options.mu;
  return system;
}

PoolingOptions With(PoolingOptions options, PoolingSolver solver) {
  options.solver = solver;
  return options;
}

double Distance(const VectorF& a, const VectorD& b) {
  return (a.cast<double>() - b).norm() / b.norm();
}

// All ways to solve one system against its definition.
void ExpectAllSolversAgree(const Coupling& coupling, const PoolingOptions& options,
                           const MatrixF& v, const VectorF& label = VectorF()) {
  const System system = SystemOf(coupling, options, v, label);
  const VectorD expected = system.Solution();
  // ‖x − x*‖ ≤ ‖residual‖ / the smallest eigenvalue, which is at least γμ.
  const double residual = 1.05 * options.tolerance + 1e-6;
  const double error =
      residual * system.rhs.norm() / (options.gamma * options.mu * expected.norm()) + 1e-6;
  const PoolingHints hints = {.label = SpanOf(label)};
  for (const PoolingSolver solver : {PoolingSolver::kAuto, PoolingSolver::kConjugateGradients,
                                     PoolingSolver::kDual, PoolingSolver::kDirect}) {
    SCOPED_TRACE(::testing::Message() << "D " << v.rows() << ", n " << v.cols() << ", mu "
                                      << options.mu << ", solver " << static_cast<int>(solver));
    const Pooled pooled = PoolingSystem(coupling, With(options, solver)).Solve(v, hints);
    EXPECT_TRUE(pooled.converged);
    EXPECT_LE(system.RelativeResidual(pooled.vector), residual);
    const bool exact =
        pooled.solver == PoolingSolver::kDual || pooled.solver == PoolingSolver::kDirect;
    EXPECT_LT(Distance(pooled.vector, expected), exact ? 1e-6 : error);
    if (solver == PoolingSolver::kDual) continue;
    const PooledStatistics statistics = ComputeStatistics(v);
    const Pooled again = PoolingSystem(coupling, With(options, solver))
                             .SolveFromGram(statistics.gram, statistics.sum, hints);
    EXPECT_TRUE(again.converged);
    EXPECT_LT(Distance(again.vector, expected), error);
  }
}

TEST(PoolingSystem, AllSolversAgreeAtAnyShape) {
  struct Shape {
    Index dimension, count;
  };
  for (const auto& [dimension, count] :
       {Shape{24, 7}, Shape{24, 24}, Shape{24, 200}, Shape{24, 1}, Shape{1, 1}, Shape{1, 50},
        Shape{100, 300}, Shape{130, 40}}) {
    const MatrixF v = RectifiedFeatures(dimension, count, 2);
    for (const double mu : {0.1, 1.0, 100.0}) {
      ExpectAllSolversAgree(Coupling::None(dimension), {.mu = mu}, v);
      const Coupling autoencoder =
          Coupling::Autoencoder(RandomMap(6, dimension, 2), RandomMap(dimension, 6, 3), 1.5);
      ExpectAllSolversAgree(autoencoder, {.mu = mu, .gamma = 0.3}, v);
      const Coupling labels = Coupling::Labels(RandomMap(6, dimension, 2), RandomMap(4, 6, 3), 1.5);
      ExpectAllSolversAgree(labels, {.mu = mu, .gamma = 3}, v, VectorF::Unit(4, 2));
    }
  }
}

// Descriptors whose VVᵀ + I has this condition.
MatrixF WithCondition(Index dimension, Index count, double condition) {
  Random random(5);
  const Index rank = std::min(dimension, count);
  const MatrixF left = RandomOrthogonal(dimension, random).leftCols(rank);
  const MatrixF right = RandomOrthogonal(count, random).topRows(rank);
  VectorF values(rank);
  for (Index i = 0; i < rank; ++i) {
    const double share = rank > 1 ? static_cast<double>(i) / static_cast<double>(rank - 1) : 0;
    values[i] = static_cast<float>(std::sqrt(std::pow(condition, 1 - share) - 1 + 1e-9));
  }
  return left * values.asDiagonal() * right;
}

TEST(PoolingSystem, AllSolversAgreeAtAnyCondition) {
  for (const double condition : {1.0, 10.0, 1e2, 1e4, 1e6, 1e8}) {
    for (const Index count : {12, 40, 70}) {
      SCOPED_TRACE(::testing::Message() << "condition " << condition << ", n " << count);
      const MatrixF v = WithCondition(40, count, condition);
      const PoolingOptions options = {.mu = 1, .max_iterations = 1000};
      const System system = SystemOf(Coupling::None(40), options, v);
      const VectorD expected = system.Solution();
      // φ is single precision.
      const double rounding = 2e-7 * system.matrix.norm() * expected.norm() / system.rhs.norm();
      for (const PoolingSolver solver :
           {PoolingSolver::kAuto, PoolingSolver::kDual, PoolingSolver::kDirect}) {
        const Pooled pooled = PoolingSystem(Coupling::None(40), With(options, solver)).Solve(v);
        EXPECT_TRUE(pooled.converged);
        EXPECT_LT(system.RelativeResidual(pooled.vector), 1.05e-5 + rounding);
      }
      // On their own, conjugate gradients either reach the tolerance or say that they did not.
      const Pooled iterated =
          PoolingSystem(Coupling::None(40), With(options, PoolingSolver::kConjugateGradients))
              .Solve(v);
      EXPECT_TRUE(iterated.vector.allFinite());
      EXPECT_TRUE(iterated.converged || condition > 1e4);
      if (iterated.converged) {
        EXPECT_LT(system.RelativeResidual(iterated.vector), 1.05e-5 + rounding);
      }
    }
  }
}

// Iterations of conjugate gradients without rounding, as far as double precision and residuals that
// are kept orthogonal to all earlier ones can tell.
int ExactIterations(const System& system, double tolerance) {
  VectorD residual = system.rhs;
  VectorD direction = residual;
  std::vector<VectorD> earlier;
  while (residual.norm() > tolerance * system.rhs.norm()) {
    earlier.push_back(residual.normalized());
    const VectorD product = system.matrix * direction;
    const double squared = residual.squaredNorm();
    residual -= squared / direction.dot(product) * product;
    for (const VectorD& unit : earlier) residual -= unit.dot(residual) * unit;
    direction = residual + residual.squaredNorm() / squared * direction;
  }
  return static_cast<int>(earlier.size());
}

TEST(PoolingSystem, RoundingCostsNoIterations) {
  const MatrixF v = RectifiedFeatures(150, 400, 30);
  for (const double mu : {0.1, 1.0, 10.0, 100.0}) {
    const PoolingOptions options = {.mu = mu, .solver = PoolingSolver::kConjugateGradients};
    const Pooled pooled = PoolingSystem(Coupling::None(150), options).Solve(v);
    EXPECT_TRUE(pooled.converged);
    EXPECT_EQ(pooled.iterations,
              ExactIterations(SystemOf(Coupling::None(150), options, v), options.tolerance));
  }
}

TEST(PoolingSystem, CouplingsOfAnyScaleAreSolved) {
  const Index dimension = 60;
  const MatrixF v = RectifiedFeatures(dimension, 200, 6);
  // A good autoencoder: A is near zero along its four directions and scale² elsewhere.
  Random random(7);
  const MatrixF directions = RandomOrthogonal(dimension, random).leftCols(4);
  const LinearMap encoder = {.weights = directions.transpose(), .bias = VectorF::Ones(4)};
  const LinearMap decoder = {.weights = 0.95F * directions,
                             .bias = random.NormalMatrix(dimension, 1)};
  for (const double scale : {0.01, 1.0, 30.0, 1000.0}) {
    const Coupling coupling = Coupling::Autoencoder(encoder, decoder, scale);
    const PoolingOptions options = {.mu = 10, .gamma = 2};
    const System system = SystemOf(coupling, options, v);
    const Pooled pooled = PoolingSystem(coupling, options).Solve(v);
    EXPECT_LT(system.RelativeResidual(pooled.vector), 1.5e-5) << scale;
    EXPECT_LT(Distance(pooled.vector, system.Solution()), 1e-3) << scale;
    EXPECT_EQ(pooled.solver, PoolingSolver::kConjugateGradients);
    EXPECT_LE(pooled.iterations, 12) << scale;  // the preconditioner's merit
    const Coupling labels = Coupling::Labels(encoder, RandomMap(3, 4, 8), scale);
    const VectorF label = VectorF::Unit(3, 1);
    const System supervised = SystemOf(labels, options, v, label);
    const Pooled with_label = PoolingSystem(labels, options).Solve(v, {.label = SpanOf(label)});
    EXPECT_LT(supervised.RelativeResidual(with_label.vector), 1.5e-5) << scale;
  }
}

TEST(PoolingSystem, DuplicateAndZeroDescriptors) {
  const Index dimension = 20;
  MatrixF v(dimension, 60);
  v << RectifiedFeatures(dimension, 10, 8).replicate(1, 4), MatrixF::Zero(dimension, 20);
  ExpectAllSolversAgree(Coupling::None(dimension), {.mu = 0.5}, v);
  // Zero descriptors change nothing.
  const PoolingSystem system(Coupling::None(dimension), {.mu = 0.5});
  EXPECT_LT((system.Pool(v) - system.Pool(v.leftCols(40))).norm(), 1e-5F);
  // Nothing but zeros gives zero, whatever the solver.
  for (const PoolingSolver solver : {PoolingSolver::kAuto, PoolingSolver::kConjugateGradients,
                                     PoolingSolver::kDual, PoolingSolver::kDirect}) {
    const Pooled pooled = PoolingSystem(Coupling::None(dimension), {.solver = solver})
                              .Solve(MatrixF::Zero(dimension, 3));
    EXPECT_TRUE(pooled.converged);
    EXPECT_TRUE(pooled.vector.isZero(0));
  }
  // With a small μ the similarity of φ to a descriptor does not depend on how often it occurs.
  MatrixF bursty(dimension, 31);
  bursty << RectifiedFeatures(dimension, 1, 9).replicate(1, 30),
      RectifiedFeatures(dimension, 1, 10);
  const VectorF phi = PoolingSystem(Coupling::None(dimension), {.mu = 1e-4}).Pool(bursty);
  EXPECT_NEAR(phi.dot(bursty.col(0)), 1, 1e-3F);
  EXPECT_NEAR(phi.dot(bursty.col(30)), 1, 1e-3F);
}

TEST(PoolingSystem, OneDescriptorByHand) {
  // (vvᵀ + μI)⁻¹v = v / (‖v‖² + μ)
  MatrixF v(2, 1);
  v << 3, 4;
  const VectorF phi = PoolingSystem(Coupling::None(2), {.mu = 5}).Pool(v);
  EXPECT_NEAR(phi[0], 0.1F, 1e-6F);
  EXPECT_NEAR(phi[1], 4.0F / 30, 1e-6F);
}

// ½ the squared error of the hash functions + γ/2 (‖Vᵀφ − 1‖² + μ‖φ‖²), term by term.
double Objective(const std::function<double(const VectorD&)>& squared_error,
                 const PoolingOptions& options, const MatrixF& v, const VectorD& phi) {
  double aggregation = options.mu * phi.squaredNorm();
  for (Index i = 0; i < v.cols(); ++i) {
    aggregation += std::pow(v.col(i).cast<double>().dot(phi) - 1, 2);
  }
  return 0.5 * squared_error(phi) + 0.5 * options.gamma * aggregation;
}

// The gradient at φ by central differences, relative to that at zero.
double RelativeGradient(const std::function<double(const VectorD&)>& objective,
                        const VectorD& phi) {
  const auto gradient = [&](const VectorD& at) {
    VectorD result(at.size());
    for (Index i = 0; i < at.size(); ++i) {
      const VectorD step = 1e-4 * VectorD::Unit(at.size(), i);
      result[i] = (objective(at + step) - objective(at - step)) / 2e-4;
    }
    return result;
  };
  return gradient(phi).norm() / gradient(VectorD::Zero(phi.size())).norm();
}

TEST(PoolingSystem, IsTheMinimumOfTheObjectiveOfSah) {
  const Index dimension = 18;
  const MatrixF v = RectifiedFeatures(dimension, 50, 11);
  const LinearMap encoder = RandomMap(5, dimension, 12);
  const LinearMap decoder = RandomMap(dimension, 5, 13);
  for (const double scale : {1.0, 7.0}) {
    const PoolingOptions options = {.mu = 2, .gamma = 0.4, .tolerance = 1e-6};
    // ‖x − (W₂(W₁x + c₁) + c₂)‖² of x = scale φ: eq:obj_pool
    const auto error = [&](const VectorD& phi) {
      const VectorD x = scale * phi;
      const VectorD code = encoder.weights.cast<double>() * x + encoder.bias.cast<double>();
      return (x - decoder.weights.cast<double>() * code - decoder.bias.cast<double>())
          .squaredNorm();
    };
    const auto objective = [&](const VectorD& phi) { return Objective(error, options, v, phi); };
    const VectorF phi =
        PoolingSystem(Coupling::Autoencoder(encoder, decoder, scale), options).Pool(v);
    EXPECT_LT(RelativeGradient(objective, phi.cast<double>()), 1e-5) << scale;
    EXPECT_GT(RelativeGradient(objective, 1.01 * phi.cast<double>()), 1e-3);
  }
}

TEST(PoolingSystem, IsTheMinimumOfTheObjectiveOfSash) {
  const Index dimension = 18;
  const MatrixF v = RectifiedFeatures(dimension, 50, 14);
  const LinearMap encoder = RandomMap(5, dimension, 15);
  const LinearMap decoder = RandomMap(3, 5, 16);
  const VectorF label = VectorF::Unit(3, 2);
  for (const double scale : {1.0, 7.0}) {
    const PoolingOptions options = {.mu = 2, .gamma = 0.1, .tolerance = 1e-6};
    // ‖y − (W₂(W₁x + c₁) + c₂)‖² of x = scale φ: eq:obj_pool_sup
    const auto error = [&](const VectorD& phi) {
      const VectorD code =
          encoder.weights.cast<double>() * (scale * phi) + encoder.bias.cast<double>();
      return (label.cast<double>() - decoder.weights.cast<double>() * code -
              decoder.bias.cast<double>())
          .squaredNorm();
    };
    const auto objective = [&](const VectorD& phi) { return Objective(error, options, v, phi); };
    const PoolingSystem system(Coupling::Labels(encoder, decoder, scale), options);
    const VectorF phi = system.Solve(v, {.label = SpanOf(label)}).vector;
    EXPECT_LT(RelativeGradient(objective, phi.cast<double>()), 1e-5) << scale;
    const VectorF other = VectorF::Unit(3, 0);
    const VectorF wrong = system.Solve(v, {.label = SpanOf(other)}).vector;
    EXPECT_GT(RelativeGradient(objective, wrong.cast<double>()), 1e-3);
  }
}

TEST(PoolingSystem, LargeGammaIsGeneralisedMaxPooling) {
  const Index dimension = 30;
  const MatrixF v = RectifiedFeatures(dimension, 80, 17);
  const Coupling coupling =
      Coupling::Autoencoder(RandomMap(4, dimension, 18), RandomMap(dimension, 4, 19));
  const VectorF coupled = PoolingSystem(coupling, {.mu = 3, .gamma = 1e9}).Pool(v);
  const VectorF plain = PoolingSystem(Coupling::None(dimension), {.mu = 3}).Pool(v);
  EXPECT_LT((coupled - plain).norm(), 3e-5F * plain.norm());
  // Without a coupling γ has no meaning: it scales both sides.
  const VectorF scaled = PoolingSystem(Coupling::None(dimension), {.mu = 3, .gamma = 1e-6}).Pool(v);
  EXPECT_LT((scaled - plain).norm(), 1e-6F * plain.norm());
}

TEST(PoolingSystem, SmallGammaIsTheFixedPointOfTheAutoencoder) {
  const Index dimension = 30;
  const MatrixF v = RectifiedFeatures(dimension, 80, 20);
  const LinearMap encoder = RandomMap(4, dimension, 21);
  const LinearMap decoder = RandomMap(dimension, 4, 22);
  const PoolingOptions options = {.mu = 1, .gamma = 1e-8};
  const VectorF phi = PoolingSystem(Coupling::Autoencoder(encoder, decoder), options).Pool(v);
  const VectorF code = encoder.weights * phi + encoder.bias;
  const VectorF decoded = decoder.weights * code + decoder.bias;
  EXPECT_LT((phi - decoded).norm(), 1e-4F * phi.norm());
}

TEST(PoolingSystem, AStartSavesIterationsAndChangesNothing) {
  const Index dimension = 64;
  const MatrixF v = RectifiedFeatures(dimension, 150, 23);
  const Coupling coupling =
      Coupling::Autoencoder(RandomMap(4, dimension, 24), RandomMap(dimension, 4, 25));
  const PoolingSystem system(coupling, {.mu = 0.1});
  const Pooled cold = system.Solve(v);
  const PooledStatistics statistics = ComputeStatistics(v);
  for (const float multiple : {1.0F, -3.0F}) {  // only its direction counts
    const VectorF start = multiple * cold.vector;
    const Pooled warm = system.Solve(v, {.start = SpanOf(start)});
    EXPECT_LE(warm.iterations, 3);
    EXPECT_LT((warm.vector - cold.vector).norm(), 1e-3F * cold.vector.norm());
    const Pooled gram =
        system.SolveFromGram(statistics.gram, statistics.sum, {.start = SpanOf(start)});
    EXPECT_LE(gram.iterations, 3);
  }
  EXPECT_GT(cold.iterations, 6);
  // Starts that are of no use do no harm.
  const VectorF random = Random(26).NormalMatrix(dimension, 1);
  const VectorF zero = VectorF::Zero(dimension);
  VectorF bad = zero;
  bad[3] = std::numeric_limits<float>::quiet_NaN();
  for (const VectorF* start : {&random, &zero, static_cast<const VectorF*>(&bad)}) {
    const Pooled pooled = system.Solve(v, {.start = SpanOf(*start)});
    EXPECT_TRUE(pooled.converged);
    EXPECT_LT((pooled.vector - cold.vector).norm(), 1e-3F * cold.vector.norm());
  }
}

TEST(PoolingSystem, OnlyTheLowerTriangleOfAGramMatrixIsRead) {
  const MatrixF v = RectifiedFeatures(16, 30, 27);
  PooledStatistics statistics = ComputeStatistics(v);
  EXPECT_EQ(statistics.gram(2, 5), 0);
  const PoolingSystem system(Coupling::None(16), {.mu = 1});
  const VectorF expected = system.SolveFromGram(statistics.gram, statistics.sum).vector;
  statistics.gram.triangularView<Eigen::StrictlyUpper>().setConstant(1e9F);
  EXPECT_TRUE(SameBits(system.SolveFromGram(statistics.gram, statistics.sum).vector, expected));
  const PoolingSystem direct(Coupling::None(16), {.mu = 1, .solver = PoolingSolver::kDirect});
  EXPECT_LT((direct.SolveFromGram(statistics.gram, statistics.sum).vector - expected).norm(),
            1e-4F * expected.norm());
}

TEST(PoolingSystem, SaysWhenTheIterationsWereNotEnough) {
  const MatrixF v = RectifiedFeatures(40, 100, 28);
  PoolingOptions options = {
      .mu = 0.01, .max_iterations = 3, .solver = PoolingSolver::kConjugateGradients};
  const Pooled cut = PoolingSystem(Coupling::None(40), options).Solve(v);
  EXPECT_FALSE(cut.converged);
  EXPECT_EQ(cut.iterations, 3);
  EXPECT_GT(cut.relative_residual, options.tolerance);
  // Left to choose, it solves the rest another way.
  options.solver = PoolingSolver::kAuto;
  const Pooled direct = PoolingSystem(Coupling::None(40), options).Solve(v);
  EXPECT_TRUE(direct.converged);
  EXPECT_EQ(direct.solver, PoolingSolver::kDirect);
  EXPECT_EQ(direct.iterations, 3);
  EXPECT_LT(Distance(direct.vector, SystemOf(Coupling::None(40), options, v).Solution()), 1e-5);
  const Pooled dual = PoolingSystem(Coupling::None(40), options).Solve(v.leftCols(20));
  EXPECT_EQ(dual.solver, PoolingSolver::kDual);
}

TEST(PoolingSystem, LargeValuesAreSolvedInDoublePrecision) {
  // Their products do not fit into single precision.
  const MatrixF v = 1e25F * RectifiedFeatures(10, 30, 29);
  const PoolingOptions options = {.mu = 1e49};
  const Pooled pooled = PoolingSystem(Coupling::None(10), options).Solve(v);
  EXPECT_LT(Distance(pooled.vector, SystemOf(Coupling::None(10), options, v).Solution()), 1e-5);
}

TEST(PoolingSystem, RefusesWhatHasNoMeaning) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(RefusalOf([&] { PoolingSystem(Coupling::None(3), {.mu = bad}); }), HasSubstr("mu"));
    EXPECT_THAT(RefusalOf([&] { PoolingSystem(Coupling::None(3), {.gamma = bad}); }),
                HasSubstr("gamma"));
    EXPECT_THAT(RefusalOf([&] { PoolingSystem(Coupling::None(3), {.tolerance = bad}); }),
                HasSubstr("tolerance"));
  }
  EXPECT_THAT(RefusalOf([&] { PoolingSystem(Coupling::None(3), {.tolerance = 1}); }),
              HasSubstr("tolerance"));
  EXPECT_THAT(RefusalOf([&] { PoolingSystem(Coupling::None(3), {.max_iterations = 0}); }),
              HasSubstr("max_iterations"));
  for (const PoolingSolver solver : {PoolingSolver::kAuto, PoolingSolver::kConjugateGradients,
                                     PoolingSolver::kDual, PoolingSolver::kDirect}) {
    const PoolingSystem system(Coupling::None(3), {.solver = solver});
    EXPECT_THAT(RefusalOf([&] { system.Pool(MatrixF(3, 0)); }), HasSubstr("no descriptors"));
    EXPECT_THAT(RefusalOf([&] { system.Pool(MatrixF::Ones(4, 2)); }), HasSubstr("descriptors"));
    MatrixF v = MatrixF::Ones(3, 40);
    v(1, 33) = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THAT(RefusalOf([&] { system.Pool(v); }), HasSubstr("column 33, row 1"));
    v(1, 33) = -std::numeric_limits<float>::infinity();
    EXPECT_THAT(RefusalOf([&] { system.Pool(v); }), HasSubstr("column 33, row 1"));
  }
}

TEST(PoolingSystem, RefusesHintsAndStatisticsThatDoNotFit) {
  const PoolingSystem system(Coupling::None(3), {});
  const MatrixF v = MatrixF::Ones(3, 2);
  const VectorF two = VectorF::Ones(2);
  EXPECT_THAT(RefusalOf([&] { system.Solve(v, {.start = SpanOf(two)}); }), HasSubstr("start"));
  EXPECT_THAT(RefusalOf([&] { system.Solve(v, {.label = SpanOf(two)}); }), HasSubstr("label"));
  const PoolingSystem labelled(Coupling::Labels(RandomMap(2, 3, 1), RandomMap(2, 2, 2)), {});
  EXPECT_THAT(RefusalOf([&] { labelled.Pool(v); }), HasSubstr("label"));
  VectorF bad = two;
  bad[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(RefusalOf([&] { labelled.Solve(v, {.label = SpanOf(bad)}); }), HasSubstr("label"));

  PooledStatistics statistics = ComputeStatistics(v);
  EXPECT_THAT(RefusalOf([&] { system.SolveFromGram(MatrixF::Ones(3, 2), statistics.sum); }),
              HasSubstr("Gram"));
  EXPECT_THAT(RefusalOf([&] { system.SolveFromGram(statistics.gram, two); }), HasSubstr("sum"));
  const PoolingSystem dual(Coupling::None(3), {.solver = PoolingSolver::kDual});
  EXPECT_THAT(RefusalOf([&] { dual.SolveFromGram(statistics.gram, statistics.sum); }),
              HasSubstr("dual"));
  statistics.gram(2, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(RefusalOf([&] { system.SolveFromGram(statistics.gram, statistics.sum); }),
              HasSubstr("finite"));
  statistics.sum[0] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(RefusalOf([&] { system.SolveFromGram(statistics.gram, statistics.sum); }),
              HasSubstr("finite"));
  EXPECT_THAT(RefusalOf([] { ComputeStatistics(MatrixF(3, 0)); }), HasSubstr("no descriptors"));
}

}  // namespace
}  // namespace bitpool
