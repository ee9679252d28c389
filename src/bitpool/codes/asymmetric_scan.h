#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/codes/aligned_bytes.h"
#include "bitpool/codes/code_blocks.h"

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

  // The scores of packed codes that lie one behind the other.
  // REQUIRES: scores has room for rows.size() / bytes_per_code()
  void Score(size_t query, std::span<const uint8_t> rows, double* scores) const;

 private:
  friend class PenaltyBound;

  // 8 per byte of the code; zeros beyond the bits.
  const double* weights(size_t query) const { return weights_.data() + query * bytes_ * 8; }

  size_t size_;
  int bits_;
  size_t bytes_;
  std::vector<double> weights_;
  std::vector<double> totals_;  // Σ|hᵢ|, added in order
  std::vector<uint8_t> codes_;
  std::vector<uint32_t> order_;      // bytes of the code, those with the largest weights first
  std::vector<double> wide_scales_;  // of long codes only, see PenaltyBound
};

// What one query can rule out quickly: codes whose score is surely below a given one.
//
// The score is Σ|hᵢ| − 2d, where the penalty d is the sum of |hᵢ| over the bits that differ from
// sgn(h). A code that reaches the score s has d <= D = (Σ|hᵢ| − s) / 2. Tables hold the penalties
// of groups of bits as whole numbers, ⌊penalty · scale⌋, so that their sum never exceeds d · scale,
// and a code is out where the sum is beyond ⌊D · scale⌋. The scale is chosen so that D is about
// the largest number that fits, and again when D has become much smaller.
class PenaltyBound {
 public:
  // Nothing is ruled out.
  void Reset() { state_ = State::kEverything; }
  // All codes are ruled out.
  void RuleOutAll() { state_ = State::kNothing; }
  // Rules out codes whose score is below this one. Cheap where that changes little. Holds for the
  // instruction set that is chosen at this moment. REQUIRES: the same query since the last Reset.
  void RuleOutBelow(double score, const RealQueries& queries, size_t query);

  // What the kernels read; nothing else needs it.
  enum class State : uint8_t { kEverything, kNothing, kTables };
  State state() const { return state_; }
  size_t bytes_per_code() const { return bytes_; }
  uint32_t limit() const { return limit_; }  // of the sum
  bool wide() const { return wide_; }        // sums have 16 bits instead of 8
  // 32 bytes per byte of the code: penalties of the low nibble, then of the high one. Or, by
  // order(), 192 bytes: 128 of the low seven bits when the highest is 0, then 64 times what to add
  // (modulo 256) when it is 1.
  const uint8_t* tables() const { return tables_.data(); }
  // Bytes of the code, those with the largest weights first.
  std::span<const uint32_t> order() const { return order_; }
  // After how many bytes, in this order and in that of the code, almost all blocks are out.
  size_t early() const { return early_; }
  size_t early_unordered() const { return early_unordered_; }

 private:
  bool Coarse(const RealQueries& queries, size_t query) const;
  void Quantise(const RealQueries& queries, size_t query);
  void ChooseEarly(const double* weights);
  void FillNibbles(const double* weights);
  void FillSevenBits(const double* weights);

  State state_ = State::kEverything;
  bool wide_ = false;
  size_t bytes_ = 0;
  double score_ = 0;
  double penalty_ = 0;  // D
  double scale_ = 0;
  uint32_t limit_ = 0;
  size_t early_ = 0;
  size_t early_unordered_ = 0;
  std::vector<uint32_t> order_;
  AlignedBytes tables_;
};

// At most this many queries share a pass over the codes.
inline constexpr size_t kRealScanGroup = 4;

// One query of a group: what to rule out, and where to report the others.
struct RealScanRequest {
  const PenaltyBound* bound;
  uint32_t* hits;    // room for every scanned code
  size_t hit_count;  // out
};

// Finds, for each request, the positions of the codes that are not ruled out, in their order. Lanes
// that hold no code are reported like any other. Uses the best instructions this machine has; some
// let a few more codes through than others, but none rules out a code that reaches the score.
// REQUIRES: requests.size() <= kRealScanGroup; codes of the length of the queries.
void ScanRealBlocks(const uint8_t* blocks, size_t block_count, std::span<RealScanRequest> requests);

}  // namespace bitpool
