#include "bitpool/hash/baselines/pairwise_labels.h"

#include <map>

namespace bitpool {

PairwiseLabels::PairwiseLabels(const Labels& labels) {
  std::map<std::vector<int32_t>, Index> numbers;
  std::vector<std::vector<int32_t>> sets;
  for (Index i = 0; i < labels.size(); ++i) {
    const std::vector<int32_t> classes(labels.of(i).begin(), labels.of(i).end());
    const auto [entry, added] = numbers.try_emplace(classes, static_cast<Index>(sets.size()));
    if (added) sets.push_back(classes);
    set_of_.push_back(entry->second);
  }
  alike_.resize(sets.size());
  for (size_t a = 0; a < sets.size(); ++a) {
    for (size_t b = 0; b < sets.size(); ++b) {
      if (ShareClass(sets[a], sets[b])) alike_[a].push_back(static_cast<int32_t>(b));
    }
  }
}

VectorD PairwiseLabels::Multiply(const VectorDRef& v) const {
  const VectorD by_set = MultiplySets(SumBySet(v));
  VectorD product(size());
  for (Index i = 0; i < size(); ++i) product[i] = by_set[set_of(i)];
  return product;
}

double PairwiseLabels::Quadratic(const VectorDRef& v) const {
  const VectorD sums = SumBySet(v);
  return sums.dot(MultiplySets(sums));
}

VectorD PairwiseLabels::SumBySet(const VectorDRef& v) const {
  VectorD sums = VectorD::Zero(sets());
  for (Index i = 0; i < size(); ++i) sums[set_of(i)] += v[i];
  return sums;
}

// S is twice the matrix of what is alike, minus one everywhere. Sums are spread rather than
// gathered: S is symmetric, and additions to different entries do not wait for each other.
VectorD PairwiseLabels::MultiplySets(const VectorD& sums) const {
  VectorD product = VectorD::Constant(sets(), -sums.sum());
  for (Index a = 0; a < sets(); ++a) {
    const double twice = 2 * sums[a];
    for (const int32_t b : alike(a)) product[b] += twice;
  }
  return product;
}

}  // namespace bitpool
