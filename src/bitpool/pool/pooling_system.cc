#include "bitpool/pool/pooling_system.h"

#include <cblas.h>
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/linalg/reductions.h"
#include "bitpool/pool/column_products.h"
#include "bitpool/pool/descriptor_weights.h"
#include "bitpool/pool/simple_pooling.h"

namespace bitpool {
namespace {

// The residual that iterations carry along departs from the true one by about this × ‖VVᵀ + K‖‖φ‖.
// Where that could matter, the true one is computed, at most this many times.
constexpr double kResidualDrift = 2e-7;
constexpr int kMaxExactResiduals = 4;

// Residuals that later ones are kept orthogonal to. A solve at the usual μ takes fewer.
constexpr Index kRememberedResiduals = 32;

double Inner(const VectorF& a, const VectorF& b) { return Dot(a.data(), b.data(), a.size()); }

double Norm(const VectorF& v) { return std::sqrt(Inner(v, v)); }

void CheckDimension(const char* what, Index expected, Index got) {
  if (expected == got) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: the pooling system has {} dimensions, got {}", what, expected, got));
}

// A positive definite system. Only the lower triangle is read.
VectorD SolveByCholesky(const MatrixD& matrix, const VectorD& rhs) {
  const Eigen::LLT<MatrixD> factor(matrix);
  if (factor.info() == Eigen::Success) {
    VectorD solution = factor.solve(rhs);
    if (solution.allFinite()) return solution;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "pooling system: not positive definite in double precision; expected finite values "
              "and a mu that is not too small against the descriptors");
}

// V diag(√w) with the weights of an attention.
struct WeightedDescriptors {
  VectorD weights, roots;
  MatrixF columns;

  WeightedDescriptors(const VectorF& attention, const MatrixFRef& descriptors)
      : weights(DescriptorWeights(attention, descriptors)),
        roots(weights.cwiseSqrt()),
        columns(descriptors.rows(), descriptors.cols()) {
    for (Index i = 0; i < columns.cols(); ++i) {
      columns.col(i) = static_cast<float>(roots[i]) * descriptors.col(i);
    }
  }

  // Vw
  VectorF Sum() const {
    VectorD sum = VectorD::Zero(columns.rows());
    for (Index i = 0; i < columns.cols(); ++i) sum += roots[i] * columns.col(i).cast<double>();
    return sum.cast<float>();
  }
};

Pooled Finished(const VectorD& solution, PoolingSolver solver) {
  return {.vector = solution.cast<float>(), .solver = solver};
}

}  // namespace

void PoolingOptions::Validate() const {
  const auto require_positive = [](const char* name, double value) {
    if (value > 0 && std::isfinite(value)) return;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: expected a positive number, got {}", name, value));
  };
  require_positive("mu", mu);
  require_positive("gamma", gamma);
  require_positive("tolerance", tolerance);
  if (tolerance >= 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("tolerance: expected less than 1, got {}", tolerance));
  }
  if (max_iterations < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("max_iterations: expected 1 or more, got {}", max_iterations));
  }
}

PooledStatistics ComputeStatistics(const MatrixFRef& descriptors) {
  PooledStatistics statistics = {.gram = {}, .sum = SumPooling(descriptors)};
  statistics.gram = MatrixF::Zero(descriptors.rows(), descriptors.rows());
  statistics.gram.selfadjointView<Eigen::Lower>().rankUpdate(descriptors);
  return statistics;
}

PoolingSystem::PoolingSystem(Coupling coupling, const PoolingOptions& options, VectorF attention)
    : coupling_(std::move(coupling)),
      options_(options),
      attention_(std::move(attention)),
      basis_(coupling_.basis().cast<float>()) {
  options_.Validate();
  if (attention_.size() > 0) CheckDimension("attention", dimension(), attention_.size());
  if (!attention_.allFinite()) {
    throw Error(ErrorCode::kInvalidArgument, "attention of the pooling: expected finite numbers");
  }
  identity_ = coupling_.identity() / options_.gamma + options_.mu;
  const VectorD eigenvalues = coupling_.eigenvalues() / options_.gamma;
  inverse_eigenvalues_ = (identity_ + eigenvalues.array()).inverse() - 1 / identity_;
  inverse_weights_ = inverse_eigenvalues_.cast<float>();
  const double largest = eigenvalues.size() > 0 ? eigenvalues.maxCoeff() : 0;
  preconditioner_condition_ = 1 + std::max(largest, 0.0) / identity_;
}

// Preconditioned conjugate gradients for (VVᵀ + K) φ = rhs.
template <class MultiplyGram>
class PoolingSystem::Iterations {
 public:
  Iterations(const PoolingSystem& system, const MultiplyGram& multiply_gram, const VectorF& rhs)
      : system_(system),
        multiply_gram_(multiply_gram),
        rhs_(rhs),
        rhs_norm_(Norm(rhs)),
        residual_(rhs),
        preconditioned_(rhs.size()),
        product_(rhs.size()) {
    pooled_.vector = VectorF::Zero(rhs.size());
    pooled_.solver = PoolingSolver::kConjugateGradients;
    Restart();
    rhs_energy_ = energy_;
  }

  // Begins at the best multiple of `start`, in the norm in which iterations approach the solution.
  void StartFrom(const VectorF& start) {
    Multiply(start);
    const auto multiple = static_cast<float>(Inner(start, rhs_) / Inner(start, product_));
    if (!std::isfinite(multiple)) return;
    pooled_.vector = multiple * start;
    residual_ = rhs_ - multiple * product_;
    Restart();
  }

  Pooled Run() {
    pooled_.converged = rhs_norm_ == 0;
    while (!pooled_.converged) {
      pooled_.relative_residual = RelativeResidual();
      if (pooled_.relative_residual <= system_.options_.tolerance) {
        pooled_.converged = exact_residual_ || Drift() <= system_.options_.tolerance / 2;
        if (!pooled_.converged && !ComputeExactResidual()) break;
      } else if (pooled_.iterations >= system_.options_.max_iterations || !Step()) {
        break;
      }
    }
    return std::move(pooled_);
  }

 private:
  // product = (VVᵀ + K) in
  void Multiply(const VectorF& in) {
    ++pooled_.iterations;
    multiply_gram_(in, product_);
    product_ += system_.ApplyK(in.cast<double>()).cast<float>();
  }

  void Restart() {
    system_.Precondition(residual_, preconditioned_);
    direction_ = preconditioned_;
    k_direction_ = residual_;
    energy_ = Inner(residual_, preconditioned_);
    exact_residual_ = true;
    remembered_ = 0;
  }

  double RelativeResidual() const {
    return std::max(Norm(residual_) / rhs_norm_, std::sqrt(std::max(energy_, 0.0) / rhs_energy_));
  }

  // How far the residual may be from the true one, relative to the right-hand side.
  double Drift() const {
    return kResidualDrift *
           std::max(largest_ * Norm(pooled_.vector) / rhs_norm_, system_.preconditioner_condition_);
  }

  bool ComputeExactResidual() {
    if (exact_residuals_++ == kMaxExactResiduals) return false;
    Multiply(pooled_.vector);
    residual_ = rhs_ - product_;
    Restart();
    return true;
  }

  // False, with the last good φ, when the numbers do not allow it.
  bool Step() {
    ++pooled_.iterations;
    multiply_gram_(direction_, product_);
    product_ += k_direction_;
    const double curvature = Inner(direction_, product_);
    const auto step = static_cast<float>(energy_ / curvature);
    if (!(curvature > 0) || !std::isfinite(step)) return false;
    largest_ = std::max(largest_, Norm(product_) / Norm(direction_));
    Remember();
    pooled_.vector += step * direction_;
    residual_ -= step * product_;
    exact_residual_ = false;
    Orthogonalise();
    system_.Precondition(residual_, preconditioned_);
    const double next = Inner(residual_, preconditioned_);
    const auto turn = static_cast<float>(next / energy_);
    direction_ = preconditioned_ + turn * direction_;
    // The coupling is never multiplied with: a direction p is a sum of vectors K⁻¹r, and Kp is the
    // same sum of vectors r.
    k_direction_ = residual_ + turn * k_direction_;
    energy_ = next;
    return true;
  }

  void Remember() {
    if (remembered_ == kRememberedResiduals) return;
    if (residuals_.cols() == 0) {
      residuals_.resize(rhs_.size(), kRememberedResiduals);
      duals_.resize(rhs_.size(), kRememberedResiduals);
    }
    residuals_.col(remembered_) = residual_;
    duals_.col(remembered_++) = preconditioned_ / static_cast<float>(energy_);
  }

  // Residuals are orthogonal (as rᵀK⁻¹s) but for rounding, which brings the mean of the descriptors
  // back: by far the largest eigenvalue of VVᵀ belongs to it. Without this it would have to be
  // removed again by an iteration of its own.
  void Orthogonalise() {
    const VectorF parts = duals_.leftCols(remembered_).transpose() * residual_;
    residual_.noalias() -= residuals_.leftCols(remembered_) * parts;
  }

  const PoolingSystem& system_;
  const MultiplyGram& multiply_gram_;
  const VectorF& rhs_;
  double rhs_norm_;
  double rhs_energy_ = 0;

  Pooled pooled_;
  VectorF residual_;
  VectorF preconditioned_;  // K⁻¹ residual
  VectorF direction_;
  VectorF k_direction_;  // K direction
  VectorF product_;
  double energy_ = 0;   // residualᵀ K⁻¹ residual
  double largest_ = 0;  // ‖(VVᵀ + K) p‖ / ‖p‖ of a direction, near the largest eigenvalue
  bool exact_residual_ = false;  // computed, not carried along
  int exact_residuals_ = 0;
  Index remembered_ = 0;
  MatrixF residuals_;
  MatrixF duals_;  // K⁻¹ residual / energy of each
};

template <class MultiplyGram, class SolveOtherwise>
Pooled PoolingSystem::IterateOr(const MultiplyGram& multiply_gram, const VectorF& rhs,
                                const PoolingHints& hints, const SolveOtherwise& otherwise) const {
  Iterations<MultiplyGram> iterations(*this, multiply_gram, rhs);
  if (!hints.start.empty()) {
    iterations.StartFrom(Eigen::Map<const VectorF>(hints.start.data(), rhs.size()));
  }
  Pooled iterated = iterations.Run();
  if (iterated.converged || options_.solver == PoolingSolver::kConjugateGradients) return iterated;
  Pooled pooled = otherwise();
  pooled.iterations = iterated.iterations;
  return pooled;
}

VectorF PoolingSystem::Pool(const MatrixFRef& descriptors) const {
  return Solve(descriptors).vector;
}

Pooled PoolingSystem::Solve(const MatrixFRef& descriptors, const PoolingHints& hints) const {
  RequireDescriptors(descriptors);
  CheckDimension("descriptors", dimension(), descriptors.rows());
  const VectorF term = ScaledTerm(hints);
  const VectorF sum = SumPooling(descriptors);  // refuses what is not finite
  if (attention_.size() == 0) {
    return SolveEquation({.descriptors = descriptors,
                          .targets = VectorD::Ones(descriptors.cols()),
                          .term = term,
                          .rhs = sum + term},
                         hints);
  }
  const WeightedDescriptors weighted(attention_, descriptors);
  return SolveEquation({.descriptors = weighted.columns,
                        .targets = weighted.roots,
                        .term = term,
                        .rhs = weighted.Sum() + term},
                       hints);
}

// With M = V diag(w) Vᵀ + K, r = Vw + b/γ and φ = M⁻¹r, a change dw moves φ by
// M⁻¹ Σ dw(i) v(i) (1 − v(i)ᵀφ), and a change of μ by −M⁻¹φ dμ. With λ = M⁻¹g, a function with the
// gradient g changes by Σ dw(i) λᵀv(i) (1 − v(i)ᵀφ) − λᵀφ dμ.
PoolingGradient PoolingSystem::Gradient(const MatrixFRef& descriptors, const VectorF& pooled,
                                        const VectorF& gradient) const {
  RequireDescriptors(descriptors);
  CheckDimension("descriptors", dimension(), descriptors.rows());
  CheckDimension("pooled vector", dimension(), pooled.size());
  CheckDimension("gradient", dimension(), gradient.size());
  const WeightedDescriptors weighted(
      attention_.size() > 0 ? attention_ : VectorF(VectorF::Zero(dimension())), descriptors);
  const VectorF adjoint = SolveEquation({.descriptors = weighted.columns,
                                         .targets = VectorD::Zero(descriptors.cols()),
                                         .term = gradient,
                                         .rhs = gradient},
                                        {})
                              .vector;
  VectorD slopes(descriptors.cols());
  for (Index i = 0; i < slopes.size(); ++i) {
    const float* descriptor = descriptors.col(i).data();
    slopes[i] = Dot(adjoint.data(), descriptor, dimension()) *
                (1 - Dot(pooled.data(), descriptor, dimension()));
  }
  return {.attention = AttentionGradient(descriptors, weighted.weights, slopes),
          .log_mu = -options_.mu * Inner(adjoint, pooled)};
}

Pooled PoolingSystem::SolveEquation(const Equation& equation, const PoolingHints& hints) const {
  const MatrixFRef& descriptors = equation.descriptors;
  const auto solve_directly = [&] {
    const MatrixD exact = descriptors.cast<double>();
    MatrixD gram = MatrixD::Zero(dimension(), dimension());
    gram.selfadjointView<Eigen::Lower>().rankUpdate(exact);
    return SolveDirect(std::move(gram), exact * equation.targets + equation.term.cast<double>());
  };
  switch (options_.solver) {
    case PoolingSolver::kDirect:
      return solve_directly();
    case PoolingSolver::kDual:
      return SolveDual(equation);
    case PoolingSolver::kAuto:
    case PoolingSolver::kConjugateGradients:
      break;
  }
  const auto multiply = [&](const VectorF& in, VectorF& out) {
    MultiplyByGram(descriptors, in, out);
  };
  return IterateOr(multiply, equation.rhs, hints, [&] {
    return descriptors.cols() < dimension() ? SolveDual(equation) : solve_directly();
  });
}

Pooled PoolingSystem::SolveFromGram(const MatrixFRef& gram, const VectorFRef& sum,
                                    const PoolingHints& hints) const {
  if (attention_.size() > 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "pooling with an attention needs the descriptors: their Gram matrix has lost the "
                "weights");
  }
  CheckDimension("rows of the Gram matrix", dimension(), gram.rows());
  CheckDimension("columns of the Gram matrix", dimension(), gram.cols());
  CheckDimension("sum of the descriptors", dimension(), sum.size());
  if (!sum.allFinite()) {
    throw Error(ErrorCode::kInvalidArgument, "sum of the descriptors: expected finite values");
  }
  if (options_.solver == PoolingSolver::kDual) {
    throw Error(ErrorCode::kInvalidArgument,
                "the dual solver needs the descriptors; a Gram matrix is solved by conjugate "
                "gradients or directly");
  }
  const VectorF rhs = sum + ScaledTerm(hints);
  const auto solve_directly = [&] { return SolveDirect(gram.cast<double>(), rhs.cast<double>()); };
  if (options_.solver == PoolingSolver::kDirect) return solve_directly();
  const auto multiply = [&](const VectorF& in, VectorF& out) {
    cblas_ssymv(CblasColMajor, CblasLower, static_cast<int>(gram.rows()), 1.0F, gram.data(),
                static_cast<int>(gram.outerStride()), in.data(), 1, 0.0F, out.data(), 1);
  };
  return IterateOr(multiply, rhs, hints, solve_directly);
}

VectorF PoolingSystem::ScaledTerm(const PoolingHints& hints) const {
  VectorF term = coupling_.RightHandSide(hints.label) / static_cast<float>(options_.gamma);
  if (!hints.start.empty()) {
    CheckDimension("start", dimension(), static_cast<Index>(hints.start.size()));
  }
  if (term.allFinite()) return term;
  throw Error(ErrorCode::kInvalidArgument,
              "label of the image: expected finite values, small enough to be divided by gamma");
}

VectorD PoolingSystem::ApplyK(const VectorD& in) const {
  return coupling_.Apply(in) / options_.gamma + options_.mu * in;
}

VectorD PoolingSystem::ApplyInverseK(const VectorD& in) const {
  const MatrixD& basis = coupling_.basis();
  const VectorD coordinates = basis.transpose() * in;
  return in / identity_ + basis * coordinates.cwiseProduct(inverse_eigenvalues_);
}

void PoolingSystem::Precondition(const VectorF& in, VectorF& out) const {
  out = in / static_cast<float>(identity_);
  if (basis_.cols() > 0) AddWeightedGram(basis_, inverse_weights_, in, out);
}

// With φ = K⁻¹(b/γ + Vw) the system becomes (I + VᵀK⁻¹V) w = t − VᵀK⁻¹b/γ.
Pooled PoolingSystem::SolveDual(const Equation& equation) const {
  const MatrixD exact = equation.descriptors.cast<double>();
  const VectorD term = equation.term.cast<double>();
  const MatrixD coordinates = coupling_.basis().transpose() * exact;
  MatrixD matrix = exact.transpose() * exact / identity_;
  matrix += coordinates.transpose() * inverse_eigenvalues_.asDiagonal() * coordinates;
  matrix.diagonal().array() += 1;
  const VectorD weights =
      SolveByCholesky(matrix, equation.targets - exact.transpose() * ApplyInverseK(term));
  return Finished(ApplyInverseK(term + exact * weights), PoolingSolver::kDual);
}

Pooled PoolingSystem::SolveDirect(MatrixD gram, const VectorD& rhs) const {
  gram += coupling_.DenseMatrix() / options_.gamma;
  gram.diagonal().array() += options_.mu;
  return Finished(SolveByCholesky(gram, rhs), PoolingSolver::kDirect);
}

}  // namespace bitpool
