#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bitpool/codes/aligned_bytes.h"
#include "bitpool/codes/real_queries.h"

namespace bitpool {

// Blocks that share the loads of tables of seven bits.
inline constexpr size_t kRealBlocksAtOnce = 4;

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
  void Reset() {
    state_ = State::kEverything;
    knows_wide_scale_ = false;
  }
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
  // Whether the tables are of seven bits: 192 bytes per byte of the code, by order(); 128 are the
  // penalties of the low seven bits when the highest is 0, then comes, 64 times, what to add
  // (modulo 256) when it is 1. Otherwise there are 32 bytes per byte of the code, in its own order:
  // penalties of the low nibble, then of the high one.
  bool seven_bits() const { return seven_bits_; }
  const uint8_t* tables() const { return tables_.data(); }
  // Bytes of the code, those with the largest weights first. For wide tables of seven bits an odd
  // number of them is followed by one that costs nothing, because they are added up in pairs.
  std::span<const uint32_t> order() const { return order_; }
  // After how many bytes, in this order and in that of the code, almost all blocks are out.
  size_t early() const { return early_; }
  size_t early_unordered() const { return early_unordered_; }
  // Where the early bytes, by order(), lie in kRealBlocksAtOnce blocks: offsets that ascend, an
  // even number for each block.
  const uint32_t* early_lines() const { return early_lines_.data(); }

 private:
  bool Coarse() const;
  void Quantise(const RealQueries& queries, size_t query);
  void ChooseEarly(const double* weights);
  void ListEarlyLines();
  void FillNibbles(const double* weights);
  void FillSevenBits(const double* weights);

  State state_ = State::kEverything;
  bool wide_ = false;
  bool seven_bits_ = false;
  bool knows_wide_scale_ = false;  // of the query since the last Reset
  double wide_scale_ = 0;
  size_t bytes_ = 0;
  double score_ = 0;
  double penalty_ = 0;  // D
  double scale_ = 0;
  uint32_t limit_ = 0;
  size_t early_ = 0;
  size_t early_unordered_ = 0;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> early_lines_;
  AlignedBytes tables_;
};

}  // namespace bitpool
