// What the kernels that scan blocks share: how they go through the codes. Included once for every
// instruction set by each file of kernels, hence no #pragma once.
#if defined(BITPOOL_CODES_BLOCK_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BITPOOL_CODES_BLOCK_SCAN_INL_H_
#undef BITPOOL_CODES_BLOCK_SCAN_INL_H_
#else
#define BITPOOL_CODES_BLOCK_SCAN_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bitpool/codes/code_blocks.h"

HWY_BEFORE_NAMESPACE();
namespace bitpool {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::CappedTag<uint8_t, kBlockCodes>;
using Vector = hn::Vec<Bytes>;
constexpr size_t kLanes = hn::MaxLanes(Bytes());
[[maybe_unused]] constexpr size_t kBlockVectors = kBlockCodes / kLanes;

#if HWY_TARGET != HWY_SCALAR

// The lanes of `kCount` vectors that are within the limit, a bit each.
template <size_t kCount>
HWY_INLINE uint64_t LanesWithin(const Vector* HWY_RESTRICT sums, Vector limit) {
  const Bytes d;
  HWY_ALIGN uint8_t bits[kCount * kLanes / 8 + 8] = {};
  for (size_t v = 0; v < kCount; ++v) {
    hn::StoreMaskBits(d, hn::Eq(hn::Min(sums[v], limit), sums[v]), bits + v * (kLanes / 8));
  }
  uint64_t lanes = 0;
  std::memcpy(&lanes, bits, kCount * kLanes / 8);
  return lanes;
}

// The lanes in which any of `kCount` sums is within the limit.
template <size_t kCount>
HWY_INLINE hn::Mask<Bytes> AnyOfWithin(const Vector* HWY_RESTRICT sums, Vector limit) {
  Vector least = sums[0];
  for (size_t v = 1; v < kCount; ++v) least = hn::Min(least, sums[v]);
  return hn::Eq(hn::Min(least, limit), least);
}

// A `Scan` adds up, for some codes at a time, what separates them from a query: sums that only
// grow. It has
//   Sums                            of these codes, which begin as zeros
//   steps(), early_steps()          in all, and until almost surely all codes are out
//   Add(codes, step, sums)          one step: a byte of every code, or a few
//   AnyWithin(sums)                 whether any code may still be within the limit
//   Report(sums, first)             of the codes within the limit, `first` being the first code
//   kLinesPerStep, EarlyLine(i)     the cache lines that the early steps read, in the order of
//                                   their addresses, as offsets from the codes

// Adds up early steps, gives up where all codes are out, and otherwise adds up the rest. With
// kFetch, the lines that the same steps will read `ahead` bytes later are prefetched on the way.
template <bool kFetch, class Scan>
HWY_INLINE void ScanCodes(Scan& scan, const uint8_t* HWY_RESTRICT codes, size_t first,
                          [[maybe_unused]] size_t ahead) {
  typename Scan::Sums sums;
  const size_t early = scan.early_steps();
  for (size_t step = 0; step < early; ++step) {
    if constexpr (kFetch) {
      // A number, because these bytes may lie after the last code; prefetching them is harmless.
      const uintptr_t later = reinterpret_cast<uintptr_t>(codes) + ahead;
      for (size_t i = 0; i < Scan::kLinesPerStep; ++i) {
        const size_t line = scan.EarlyLine(step * Scan::kLinesPerStep + i);
        __builtin_prefetch(reinterpret_cast<const void*>(later + line), 0, 2);
      }
    }
    scan.Add(codes, step, sums);
  }
  if (HWY_LIKELY(!scan.AnyWithin(sums))) return;
  for (size_t step = early; step < scan.steps(); ++step) scan.Add(codes, step, sums);
  scan.Report(sums, first);
}

// A few kilobytes, in whole runs, and one run more: a scan may begin with the line of a run that
// was prefetched last.
[[maybe_unused]] HWY_INLINE size_t FetchAhead(size_t run) {
  constexpr size_t kLeast = size_t{1} << 13;
  return (kLeast + run - 1) / run * run + run;
}

// Scans as many whole runs of Scan::kBlocks blocks as there are. Returns the number of blocks.
//
// A single query waits for the memory. The processor's own prefetching follows it, but starts again
// at every page and sees only as far as the instructions that are in flight, of which summing up
// takes many. So the lines of a few kilobytes ahead are prefetched (kFetch), into the second-level
// cache, because the first has room for too few lines on their way. In a group the blocks are in
// the cache already.
template <bool kFetch, class Scan>
HWY_INLINE size_t ScanRuns(Scan& scan, const uint8_t* HWY_RESTRICT blocks, size_t block_count,
                           size_t bytes_per_code) {
  const size_t run = Scan::kBlocks * BlockBytes(bytes_per_code);
  const size_t ahead = FetchAhead(run);
  size_t b = 0;
  for (; b + Scan::kBlocks <= block_count; b += Scan::kBlocks, blocks += run)
    ScanCodes<kFetch>(scan, blocks, b * kBlockCodes, ahead);
  return b;
}

// The same where a scan takes kScanLanes codes at a time, less than a block.
template <bool kFetch, class Scan>
HWY_INLINE void ScanByLanes(Scan& scan, const uint8_t* HWY_RESTRICT blocks, size_t block_count,
                            size_t bytes_per_code) {
  const size_t block = BlockBytes(bytes_per_code);
  const size_t ahead = FetchAhead(block);
  for (size_t b = 0; b < block_count; ++b, blocks += block) {
    ScanCodes<kFetch>(scan, blocks, b * kBlockCodes, ahead);
    for (size_t lane = Scan::kScanLanes; lane < kBlockCodes; lane += Scan::kScanLanes)
      ScanCodes<false>(scan, blocks + lane, b * kBlockCodes + lane, 0);
  }
}

// For processors that look up nibbles: up to four queries share the splitting of the codes into
// nibbles, and each has two tables of 16 entries for every byte of the code. Sums are bytes, whose
// additions saturate. The reporter(query, lanes, sums, first) gets the lanes within the limit as
// bits, and all sums.
template <size_t kQueries, class Reporter>
class TableScan {
 public:
  static constexpr size_t kVectors = std::min<size_t>(kBlockVectors, 2);
  static constexpr size_t kScanLanes = kVectors * kLanes;
  static constexpr size_t kLinesPerStep = 1;

  struct Query {
    const uint8_t* tables;
    uint8_t limit;  // at most 254
    size_t early;   // bytes until almost surely all codes are out
  };
  struct Sums {
    Vector of[kQueries][kVectors];
    HWY_INLINE Sums() {
      for (auto& vectors : of) {
        for (Vector& vector : vectors) vector = hn::Zero(Bytes());
      }
    }
  };

  HWY_INLINE TableScan(const Query* queries, size_t bytes, Reporter report)
      : bytes_(bytes), report_(report) {
    for (size_t q = 0; q < kQueries; ++q) {
      tables_[q] = queries[q].tables;
      limits_[q] = hn::Set(Bytes(), queries[q].limit);
      beyond_[q] = hn::Set(Bytes(), static_cast<uint8_t>(queries[q].limit + 1));
      early_ = std::max(early_, queries[q].early);
    }
  }

  size_t steps() const { return bytes_; }
  size_t early_steps() const { return early_; }
  size_t EarlyLine(size_t i) const { return i * kBlockCodes; }

  HWY_INLINE void Add(const uint8_t* HWY_RESTRICT codes, size_t j, Sums& sums) const {
    const Bytes d;
    const Vector nibble = hn::Set(d, uint8_t{15});
    Vector low[kVectors], high[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      const Vector x = hn::Load(d, codes + j * kBlockCodes + v * kLanes);
      low[v] = hn::And(x, nibble);
      high[v] = hn::ShiftRight<4>(x);
    }
    for (size_t q = 0; q < kQueries; ++q) {
      const Vector low_table = hn::LoadDup128(d, tables_[q] + j * 32);
      const Vector high_table = hn::LoadDup128(d, tables_[q] + j * 32 + 16);
      for (size_t v = 0; v < kVectors; ++v) {
        const Vector sum = hn::SaturatedAdd(hn::TableLookupBytes(low_table, low[v]),
                                            hn::TableLookupBytes(high_table, high[v]));
        sums.of[q][v] = hn::SaturatedAdd(sums.of[q][v], sum);
      }
    }
  }

  HWY_INLINE bool AnyWithin(const Sums& sums) const {
    // Not zero where a sum is within the limit of its query: one comparison for all of them.
    Vector any = hn::Zero(Bytes());
    for (size_t q = 0; q < kQueries; ++q) {
      for (const Vector& sum : sums.of[q]) any = hn::Or(any, hn::SaturatedSub(beyond_[q], sum));
    }
    return !hn::AllTrue(Bytes(), hn::Eq(any, hn::Zero(Bytes())));
  }

  HWY_INLINE void Report(const Sums& sums, size_t first) const {
    for (size_t q = 0; q < kQueries; ++q)
      report_(q, LanesWithin<kVectors>(sums.of[q], limits_[q]), sums.of[q], first);
  }

 private:
  size_t bytes_;
  size_t early_ = 1;
  Reporter report_;
  const uint8_t* HWY_RESTRICT tables_[kQueries];
  Vector limits_[kQueries];
  Vector beyond_[kQueries];  // one more
};

#endif

}  // namespace HWY_NAMESPACE
}  // namespace bitpool
HWY_AFTER_NAMESPACE();

#endif  // include guard
