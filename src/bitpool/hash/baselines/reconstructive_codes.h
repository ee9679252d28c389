#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/hash/baselines/pairwise_labels.h"

namespace bitpool {

// Codes of labelled samples that are improved one weight at a time, as in binary reconstructive
// embedding (Kulis and Darrell, NIPS 2009).
//
// With bits h in {−1, 1} and S = ±1 for samples that share a class or do not, the wanted distance
// is d = (1 − S) / 2 and the Hamming distance over L bits is (1 − hᵀh / L) / 2. For one bit, the
// other bits being fixed, Σ (d − distance)² over all pairs is a constant − hᵀRh / (2L²), where R =
// L·S − Σ h'h'ᵀ over the other bits h'. A weight moves the projections of the samples along lines,
// each of which crosses zero at most once; between crossings nothing changes, and at a crossing one
// entry of h does, whose part in hᵀRh takes sets + L operations instead of n. The best interval is
// thus found exactly, over all pairs, in n (log n + L + sets).
class ReconstructiveCodes {
 public:
  // Features are n × anchors, weights bits × anchors. `labels` must outlive this.
  ReconstructiveCodes(MatrixF features, const PairwiseLabels& labels, MatrixF weights);

  // Mean of (d − distance)² over all pairs of samples, including each with itself, and in both
  // orders.
  double Loss() const;

  // Gives W(bit, anchor) the value that makes the loss smallest, all other weights being as they
  // are, or leaves it where that does not lower the loss.
  void ImproveWeight(Index bit, Index anchor);

  const MatrixF& weights() const { return weights_; }
  const MatrixF& signs() const { return signs_; }  // the codes, bits × n of −1 and +1

 private:
  // A bit that replaces one of the codes, and its sums from which hᵀRh is known. All are whole
  // numbers, which single precision has exactly.
  struct Candidate {
    VectorF signs;                  // h
    std::vector<int32_t> set_sums;  // Σ h over the samples of each set of classes
    int32_t sum = 0;                // Σ h over all
    VectorF bit_sums;               // h'ᵀh of each other bit; 0 for the one replaced
    double agreement = 0;           // hᵀRh
  };
  // Where the projection of a sample is zero.
  struct Crossing {
    double step;  // of the weight
    Index sample;
  };
  // Steps between two crossings.
  struct Interval {
    double begin, end;
    double agreement;

    double Inside() const;
  };

  Candidate MakeCandidate(Index bit, VectorF signs) const;
  // (Sh) of the samples of a set.
  double Labelled(const Candidate& candidate, Index set) const;
  void Flip(Index bit, Index sample, Candidate& candidate) const;
  std::vector<Crossing> FindCrossings(Index bit, Index anchor) const;
  Interval FindBestInterval(Index bit, Index anchor) const;

  const PairwiseLabels& labels_;
  MatrixF features_;
  MatrixF weights_;
  MatrixD projections_;  // n × bits
  MatrixF signs_;
};

}  // namespace bitpool
