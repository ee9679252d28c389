#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bitpool/base/matrix.h"

namespace bitpool {

// Asymmetric search: stored codes are bits b in {−1, +1}, queries are real weights h, one per bit,
// and the score of a code is Σ hᵢbᵢ. The larger |hᵢ|, the surer the bit; the Hamming distance to
// sgn(h) forgets that.
//
// The score of a code is, by definition, the double that
//   sum = 0; for every bit i, in order: sum += bit i is 1 ? hᵢ : −hᵢ
// gives. All ways of searching return exactly this number.
class RealQueries {
 public:
  // A column of weights per query. Throws kInvalidArgument unless there are 1 to kMaxBits rows,
  // and, naming the query, for a weight that is infinite or not a number.
  explicit RealQueries(const MatrixFRef& weights);

  size_t size() const { return size_; }
  int bits() const { return bits_; }
  size_t bytes_per_code() const { return bytes_; }

  // The signs of the weights: the code with the highest score.
  const uint8_t* code(size_t query) const { return codes_.data() + query * bytes_; }
  // Its score. No code has more: rounding never turns a smaller sum into a larger one.
  double best_score(size_t query) const { return totals_[query]; }

  // 8 weights per byte of the code; zeros beyond the bits.
  const double* weights(size_t query) const { return weights_.data() + query * bytes_ * 8; }
  // The bytes of the code, those with the largest weights first.
  std::span<const uint32_t> order(size_t query) const {
    return std::span(order_).subspan(query * bytes_, bytes_);
  }

  // The scores of packed codes that lie one after the other.
  // REQUIRES: scores has room for rows.size() / bytes_per_code()
  void Score(size_t query, std::span<const uint8_t> rows, double* scores) const;

 private:
  size_t size_;
  int bits_;
  size_t bytes_;
  std::vector<double> weights_;
  std::vector<double> totals_;  // Σ|hᵢ|, added in order
  std::vector<uint8_t> codes_;
  std::vector<uint32_t> order_;
};

}  // namespace bitpool
