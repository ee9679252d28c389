#pragma once

#include "bitpool/base/matrix.h"

namespace bitpool {

// The samples of one subspace, summed by the codeword they belong to.
struct CellSums {
  VectorD counts;      // n_j, samples of each codeword
  MatrixD totals;      // their sums, a column per codeword
  double squares = 0;  // Σ ‖x‖² of all samples
};

// The codewords of one subspace in affinity-preserving k-means (He, Wen and Sun, CVPR 2013,
// section 3). The index of a codeword is its binary code, and the distance of two codewords is to
// be near the scaled Hamming distance of their indices, d_h(i, j) = s √Hamming(i, j).
class AffinityCodebook {
 public:
  // The codewords of PCA hashing: the vertices of a hypercube with edge s around zero in the first
  // `bits` dimensions, on the positive side of dimension i where bit i of the index is 1. Here the
  // affinity error is zero. REQUIRES: 1 <= bits <= dimension
  AffinityCodebook(Index dimension, int bits, double edge);

  const MatrixD& codewords() const { return codewords_; }  // dimension × 2^bits

  // E_quan + λ E_aff, equation (6): the mean squared distance of the samples from their codewords,
  // and Σ_ij w_ij (‖c_i − c_j‖ − d_h(i, j))², w_ij = n_i n_j / n².
  double Objective(const CellSums& cells, double lambda) const;

  // Moves one codeword after the other to a minimum of the objective, with all others and the
  // assignment held fixed (equation 8). Codewords without samples do not count and stay. The
  // objective never rises.
  void Update(const CellSums& cells, double lambda);

 private:
  void UpdateCodeword(Index j, const CellSums& cells, double lambda);

  MatrixD codewords_;
  MatrixD target_;  // d_h
  double edge_;     // s
};

}  // namespace bitpool
