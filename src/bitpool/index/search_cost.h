#pragma once

#include <cstddef>
#include <cstdint>

namespace bitpool {

// What searching costs, counted instead of timed: by these numbers a search chooses between looking
// up and scanning, and an index chooses how to keep its codes. They are fixed, and whole, so that
// the same codes give the same index file on every machine and in every run. The unit is a byte
// read by a scan of blocks for a batch of queries, about 0.012 ns on one core of a Xeon (Sapphire
// Rapids); the ratios were measured there and on an EPYC (Genoa), with 1 to 10 million codes of 32
// to 512 bits.
using SearchCost = int64_t;

inline constexpr SearchCost kProbeCost = 330;  // finding the codes under a key
inline constexpr SearchCost kCandidateCost = 500;
inline constexpr SearchCost kCandidateByteCost = 5;
inline constexpr SearchCost kRowCost = 17;  // of a scan of codes in rows
inline constexpr SearchCost kRowByteCost = 3;
inline constexpr SearchCost kBlockByteCost = 1;

constexpr SearchCost CandidateCost(size_t bytes_per_code) {
  return kCandidateCost + kCandidateByteCost * static_cast<SearchCost>(bytes_per_code);
}

constexpr SearchCost RowScanCost(size_t codes, size_t bytes_per_code) {
  return static_cast<SearchCost>(codes) *
         (kRowCost + kRowByteCost * static_cast<SearchCost>(bytes_per_code));
}

constexpr SearchCost BlockScanCost(size_t codes, size_t bytes_per_code) {
  return kBlockByteCost * static_cast<SearchCost>(codes * bytes_per_code);
}

}  // namespace bitpool
