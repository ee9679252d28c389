#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace bitpool {

// A scan adds up what separates codes from a query, byte by byte, and looks once in between to see
// whether all codes at hand are beyond the limit already. These functions say when.
//
// Bits of far codes differ from the query's with probability ½. Where bit i counts |hᵢ| when it
// differs, the sum over some bits then has the mean ½Σ|hᵢ| and the variance ¼Σhᵢ². The look comes
// where the limit is enough standard deviations below the mean for it to succeed almost surely for
// all codes of a block: a look that fails costs a mispredicted branch.
inline constexpr double kSureDeviations = 3.7;

// Whether codes are almost surely out: `sum` is Σ|hᵢ| and `squares` Σhᵢ² over the bits that were
// added up.
inline bool AlmostSurelyOut(double sum, double squares, double limit) {
  return sum / 2 - limit >= kSureDeviations * std::sqrt(squares) / 2;
}

// After how many bytes that is so for Hamming distances, where all |hᵢ| are 1: the solution of
//   4p − (t + ½) ≥ 3.7 √(2p)
inline size_t EarlyHammingBytes(size_t bytes, int32_t threshold) {
  constexpr auto kDeviations = static_cast<float>(kSureDeviations * 1.41421356237);
  const float beyond = 16 * (static_cast<float>(threshold) + 0.5F);
  const float root = (kDeviations + std::sqrt(kDeviations * kDeviations + beyond)) / 8;
  return std::min(bytes, static_cast<size_t>(root * root) + 1);
}

}  // namespace bitpool
