#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

// Which of n labelled samples are alike: S_ij is +1 where samples i and j share a class and −1
// elsewhere.
//
// Samples that have the same set of classes have the same row of S, so what is kept is, for every
// set that occurs, the list of the sets it shares a class with. A product with S costs n operations
// and one for every entry of the lists instead of n². With one class per sample the sets are the
// classes, and each is alike only with itself.
class PairwiseLabels {
 public:
  // REQUIRES: every item has a class.
  explicit PairwiseLabels(const Labels& labels);

  Index size() const { return static_cast<Index>(set_of_.size()); }
  Index sets() const { return static_cast<Index>(alike_.size()); }
  Index set_of(Index sample) const { return set_of_[static_cast<size_t>(sample)]; }
  // The sets that share a class with this one, itself among them, ascending.
  const std::vector<int32_t>& alike(Index set) const { return alike_[static_cast<size_t>(set)]; }

  // Sv. REQUIRES: v.size() == size()
  VectorD Multiply(const VectorDRef& v) const;
  // vᵀSv. REQUIRES: v.size() == size()
  double Quadratic(const VectorDRef& v) const;

 private:
  VectorD SumBySet(const VectorDRef& v) const;
  VectorD MultiplySets(const VectorD& sums) const;

  std::vector<Index> set_of_;
  std::vector<std::vector<int32_t>> alike_;
};

}  // namespace bitpool
