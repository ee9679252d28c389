#pragma once

#include <span>

#include "bitpool/base/matrix.h"
#include "bitpool/pool/coupling.h"

namespace bitpool {

// Ways to solve a pooling system. All give the same φ but for rounding.
enum class PoolingSolver {
  kAuto,                // kConjugateGradients; where they do not reach the tolerance, kDual for
                        // fewer descriptors than dimensions and kDirect for more
  kConjugateGradients,  // products with V alone, in single precision: O(Dn) for each iteration
  kDual,                // a system of n unknowns, in double precision: O(Dn² + n³)
  kDirect,  // Cholesky, in double precision: O(D²n + D³). The others are compared to it
};

struct PoolingOptions {
  double mu = 10;            // μ, how much a large φ costs
  double gamma = 1;          // γ, the weight of the aggregation against the coupling
  double tolerance = 1e-5;   // relative residual at which iterations end
  int max_iterations = 100;  // products with VVᵀ, at most
  PoolingSolver solver = PoolingSolver::kAuto;  // how to solve

  // Throws kInvalidArgument when a field is invalid. μ = 0 is refused: without it the system of
  // fewer than D different descriptors is singular.
  void Validate() const;
};

// What is known of one image besides its descriptors.
struct PoolingHints {
  std::span<const float> label = {};  // y, for Coupling::Labels and only for it
  std::span<const float> start = {};  // a φ that may be near the solution, such as that of similar
                                      // hash functions; iterations begin at its best multiple
};

// All that the system needs of the descriptors V of one image. Enough for any number of solves with
// different couplings, and smaller than V where n is large.
struct PooledStatistics {
  MatrixF gram;  // VVᵀ, D×D; only the lower triangle is read, the upper one may hold anything
  VectorF sum;   // V1
};

// Throws kInvalidArgument without descriptors, or for values that are not finite. The upper
// triangle of the result is zero.
PooledStatistics ComputeStatistics(const MatrixFRef& descriptors);

struct Pooled {
  VectorF vector;                                 // φ
  PoolingSolver solver = PoolingSolver::kDirect;  // the one that gave φ, never kAuto
  int iterations = 0;                             // products with VVᵀ, including those given up
  double relative_residual = 0;                   // at the end of the iterations; 0 from the others
  bool converged = true;                          // false only from kConjugateGradients by request
};

// The gradient of a function of φ.
struct PoolingGradient {
  VectorD attention;  // with respect to a; has D numbers even where there is none
  double log_mu = 0;  // with respect to log μ
};

// Turns the D×n local descriptors V of an image into the vector φ that solves
//   (A + γVVᵀ + γμI) φ = γV1 + b,
// with A and b of the coupling: generalised max pooling, SAH or SASH. φ is the minimum of
// eq:obj_pool (or of eq:obj_pool_sup), in which every descriptor has about the same similarity to
// φ, however often it occurs. Never changes and may be used from many threads; the same V always
// gives the same bits.
//
// With an attention a, descriptors have the weights w of DescriptorWeights, and φ solves
//   (A + γV diag(w) Vᵀ + γμI) φ = γVw + b,
// which is the system above for V′ = V diag(√w) with √w in the place of 1.
//
// Iterations are conjugate gradients with the preconditioner K = (A + γμI)/γ: the spectrum of the
// coupling, which is wide where the autoencoder is good, then costs no iterations. They end when
// the residual r = γV1 + b − (…)φ is at most `tolerance` × the right-hand side, both in the usual
// norm and in that of K⁻¹, which sees the directions where A is small.
class PoolingSystem {
 public:
  // Throws kInvalidArgument for options without meaning, and for an attention of another dimension
  // or with numbers that are not finite. An empty one: all descriptors count alike.
  PoolingSystem(Coupling coupling, const PoolingOptions& options, VectorF attention = {});

  // φ = Solve(descriptors).vector
  VectorF Pool(const MatrixFRef& descriptors) const;

  // Throws kInvalidArgument without descriptors, for values that are not finite, or for sizes that
  // do not agree.
  Pooled Solve(const MatrixFRef& descriptors, const PoolingHints& hints = {}) const;

  // The same from VVᵀ and V1 (see PooledStatistics), O(D²) for each iteration. kDual needs the
  // descriptors themselves and is refused, as is a system with an attention.
  Pooled SolveFromGram(const MatrixFRef& gram, const VectorFRef& sum,
                       const PoolingHints& hints = {}) const;

  // The gradient of a function of φ = Pool(descriptors) from that with respect to φ, by one more
  // solve with the same matrix. REQUIRES: as Solve.
  PoolingGradient Gradient(const MatrixFRef& descriptors, const VectorF& pooled,
                           const VectorF& gradient) const;

  Index dimension() const { return coupling_.dimension(); }
  const Coupling& coupling() const { return coupling_; }
  const PoolingOptions& options() const { return options_; }
  const VectorF& attention() const { return attention_; }

 private:
  // VVᵀφ + Kφ = Vt + b/γ
  struct Equation {
    const MatrixFRef& descriptors;
    VectorD targets;  // t
    VectorF term;     // b/γ
    VectorF rhs;      // Vt + b/γ
  };
  Pooled SolveEquation(const Equation& equation, const PoolingHints& hints) const;
  VectorF ScaledTerm(const PoolingHints& hints) const;  // b/γ
  VectorD ApplyK(const VectorD& in) const;
  VectorD ApplyInverseK(const VectorD& in) const;
  void Precondition(const VectorF& in, VectorF& out) const;  // ApplyInverseK, fast

  template <class MultiplyGram>
  class Iterations;
  template <class MultiplyGram, class SolveOtherwise>
  Pooled IterateOr(const MultiplyGram& multiply_gram, const VectorF& rhs, const PoolingHints& hints,
                   const SolveOtherwise& otherwise) const;
  Pooled SolveDual(const Equation& equation) const;
  Pooled SolveDirect(MatrixD gram, const VectorD& rhs) const;

  Coupling coupling_;
  PoolingOptions options_;
  VectorF attention_;
  // Everything is divided by γ: (VVᵀ + K) φ = V1 + b/γ, and
  // K⁻¹ = I / identity + basis diag(inverse_eigenvalues) basisᵀ.
  double identity_ = 0;
  VectorD inverse_eigenvalues_;
  MatrixF basis_;  // that of the coupling, and the values above, in single precision
  VectorF inverse_weights_;
  double preconditioner_condition_ = 1;  // × 1e-7: how exact they are
};

}  // namespace bitpool
