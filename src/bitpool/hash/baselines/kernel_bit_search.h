#pragma once

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/hash/baselines/pairwise_labels.h"

namespace bitpool {

// R = L·S − Σ hhᵀ over the bits h in {−1, 1}ⁿ found so far: what the remaining ones of the L bits
// still have to say about the pairwise labels S (Liu et al., CVPR 2012, greedy optimisation). It is
// never formed.
class LabelResidue {
 public:
  // `labels` must outlive this.
  LabelResidue(const PairwiseLabels& labels, int bits);

  VectorD Multiply(const VectorD& v) const;              // Rv
  double Quadratic(const VectorD& v) const;              // vᵀRv
  double squared_norm() const { return squared_norm_; }  // ‖R‖²
  void Subtract(const VectorD& signs);  // R ← R − hhᵀ. REQUIRES: not more than L times

 private:
  const PairwiseLabels& labels_;
  double bits_;
  MatrixD codes_;  // n × L, of which the first `found_` columns are bits
  Index found_ = 0;
  double squared_norm_;
};

// A bit's weights and what they give for every sample.
struct KernelBit {
  VectorD weights;      // a
  VectorD projections;  // K̄ᵀa
};

// The two ways in which KSH looks for weights a of a bit h = sgn(K̄ᵀa) with large hᵀRh, where K̄
// (anchors × n) has the centred kernel features of the labelled samples.
class KernelBitSearch {
 public:
  // `features` and `labels` must outlive this.
  KernelBitSearch(const MatrixD& features, const PairwiseLabels& labels, int bits,
                  const RunContext& context);

  // Without the sign: the largest aᵀK̄RK̄ᵀa where aᵀK̄K̄ᵀa = n (spectral relaxation),
  // a generalised eigenvector.
  KernelBit Spectral() const;

  // With a smooth sign (sigmoid smoothing): descends on Loss from `start` with Nesterov's
  // accelerated gradients, for at most this many iterations.
  KernelBit Smooth(const KernelBit& start, int iterations) const;

  // −yᵀRy with y = tanh(K̄ᵀa / 2), which is 2/(1 + exp(−K̄ᵀa)) − 1.
  double Loss(const VectorD& projections) const;
  struct Slope {
    double loss;
    VectorD gradient;  // with respect to a: −K̄((Ry) ⊙ (1 − y²))
  };
  Slope LossAndGradient(const VectorD& projections) const;

  // hᵀRh, by which the bit is chosen.
  double Agreement(const KernelBit& bit) const;
  // Chooses the bit: R ← R − hhᵀ.
  void Take(const KernelBit& bit);

  // Mean of (S_ij − Σ h_i h_j / L)² over all pairs of samples and the bits taken.
  double Objective() const;

 private:
  VectorD Project(const VectorD& weights) const;     // K̄ᵀa
  VectorD Accumulate(const VectorD& samples) const;  // K̄v

  const MatrixD& features_;
  const RunContext& context_;
  int bits_;
  LabelResidue residue_;
  MatrixD whitening_;  // P: PᵀK̄K̄ᵀP is the identity
  MatrixD whitened_;   // PᵀK̄RK̄ᵀP, whose eigenvectors u are those sought: a = Pu
};

}  // namespace bitpool
