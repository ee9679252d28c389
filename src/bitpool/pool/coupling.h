#pragma once

#include <span>

#include "bitpool/base/matrix.h"
#include "bitpool/linalg/ridge.h"

namespace bitpool {

// What the hash functions add to the pooling system of an image: the matrix A and the vector b of
//   (A + γVVᵀ + γμI) φ = γV1 + b.
// A is a multiple of the identity plus a matrix of low rank, and is kept as that,
//   A = identity I + basis diag(eigenvalues) basisᵀ,
// with orthonormal columns in the basis: a product costs O(D rank), and so does one with the
// inverse of A + any multiple of I. Never changes and may be used from many threads.
//
// Encoder h = W₁x + c₁ and decoder x ≈ W₂h + c₂ (or labels y ≈ W₂h + c₂) were learned from vectors
// x = scale φ; the paper has scale = 1. All three throw kInvalidArgument for sizes that do not
// agree, numbers that are not finite or a scale that is not positive.
class Coupling {
 public:
  // A = 0, b = 0: generalised max pooling (eq:gmp-solution).
  static Coupling None(Index dimension);

  // A = s²MᵀM, b = sMᵀ(W₂c₁ + c₂) with M = I − W₂W₁: eq:sol_pool.
  static Coupling Autoencoder(const LinearMap& encoder, const LinearMap& decoder, double scale = 1);

  // The same with the reconstruction measured in the metric FᵀF, F being D×D: A = MᵀFᵀFM,
  // b = MᵀFᵀF(W₂c₁ + c₂). A then has any rank. An empty F is the plain metric.
  static Coupling Autoencoder(const LinearMap& encoder, const LinearMap& decoder,
                              const MatrixF& metric);

  // A = s²(W₂W₁)ᵀ(W₂W₁), b = s(W₂W₁)ᵀ(y − W₂c₁ − c₂) with the label y of the image:
  // eq:sol_pool_sup.
  static Coupling Labels(const LinearMap& encoder, const LinearMap& decoder, double scale = 1);

  Index dimension() const { return term_.bias.size(); }
  Index rank() const { return eigenvalues_.size(); }         // at most 2 × bits, but for a metric
  Index label_size() const { return term_.weights.cols(); }  // 0: b is the same for all images
  double identity() const { return identity_; }              // not negative
  const MatrixD& basis() const { return basis_; }            // D×rank
  const VectorD& eigenvalues() const { return eigenvalues_; }  // identity + eigenvalue >= 0

  // A · in
  VectorD Apply(const VectorD& in) const;

  // A itself, for small D and for comparison.
  MatrixD DenseMatrix() const;

  // b of an image with this label. Throws kInvalidArgument for a label of another size.
  VectorF RightHandSide(std::span<const float> label = {}) const;

 private:
  // A = identity I + columns core columnsᵀ.
  Coupling(double identity, const MatrixD& columns, const MatrixD& core, LinearMap term);

  double identity_;
  MatrixD basis_;
  VectorD eigenvalues_;
  LinearMap term_;  // b = weights · label + bias
};

}  // namespace bitpool
