#include "bitpool/codes/hamming_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "bitpool/codes/code_blocks.h"

// This file is compiled once for every instruction set; the best one is chosen at run time.
#define HWY_WANT_AVX3_DL  // AVX-512 with VPOPCNTDQ and BITALG
// Arrays of vectors need a size that is known when compiling.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bitpool/codes/hamming_scan.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bitpool {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::CappedTag<uint8_t, kBlockCodes>;
using Vector = hn::Vec<Bytes>;
constexpr size_t kLanes = hn::MaxLanes(Bytes());
[[maybe_unused]] constexpr size_t kBlockVectors = kBlockCodes / kLanes;

// Distances are bytes whose additions saturate, so 255 means "255 or more".
constexpr int32_t kMaxByteDistance = 254;

// After how many bytes to look whether a block can be given up. The bits of far codes differ from
// the query's with probability 1/2; the block is given up where the distance so far is almost
// surely beyond the threshold in all its lanes (3.7 standard deviations). Looking earlier would
// fail too often, and a failed look costs a mispredicted branch.
//   4p − (t + ½) ≥ 3.7 √(2p)
[[maybe_unused]] HWY_INLINE size_t EarlyPlane(size_t bytes, int32_t threshold) {
  const float root =
      (5.23F + std::sqrt(27.4F + 16.0F * (static_cast<float>(threshold) + 0.5F))) / 8;
  return std::min(bytes, static_cast<size_t>(root * root) + 1);
}

[[maybe_unused]] HWY_INLINE void ReportLanes(const uint8_t* HWY_RESTRICT distances, uint64_t lanes,
                                             size_t first, ScanRequest& request) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(lanes));
    request.hits[request.hit_count++] = {.position = static_cast<uint32_t>(first + lane),
                                         .distance = distances[lane]};
  }
}

// Reports the lanes of `kCount` vectors that are within the threshold.
template <size_t kCount>
HWY_INLINE void ReportWithin(const Vector* HWY_RESTRICT distances, Vector threshold, size_t first,
                             ScanRequest& request) {
  const Bytes d;
  HWY_ALIGN uint8_t bits[kCount * kLanes / 8 + 8] = {};
  for (size_t v = 0; v < kCount; ++v) {
    hn::StoreMaskBits(d, hn::Eq(hn::Min(distances[v], threshold), distances[v]),
                      bits + v * (kLanes / 8));
  }
  uint64_t lanes = 0;
  std::memcpy(&lanes, bits, kCount * kLanes / 8);
  if (HWY_LIKELY(lanes == 0)) return;
  HWY_ALIGN uint8_t stored[kCount * kLanes];
  for (size_t v = 0; v < kCount; ++v) hn::Store(distances[v], d, stored + v * kLanes);
  ReportLanes(stored, lanes, first, request);
}

// Not zero where a distance is within the threshold.
[[maybe_unused]] HWY_INLINE Vector Within(Vector threshold_plus_one, Vector distance) {
  return hn::SaturatedSub(threshold_plus_one, distance);
}

// Distances of any size, up to 4,096. Needed only while there is no threshold yet, or a very large
// one.
void ScanExact(const uint8_t* HWY_RESTRICT blocks, size_t block_count, const ScanQueries& queries,
               ScanRequest& request) {
  const Bytes d;
  constexpr size_t kPlanes = 31;  // 8 · 31 bits fit into a byte
  const size_t bytes = queries.bytes_per_code();
  const uint8_t* code = queries.code(request.query);
  for (size_t b = 0; b < block_count; ++b, blocks += BlockBytes(bytes)) {
    uint32_t distances[kBlockCodes] = {};
    HWY_ALIGN uint8_t part[kBlockCodes];
    for (size_t begin = 0; begin < bytes; begin += kPlanes) {
      const size_t end = std::min(bytes, begin + kPlanes);
      for (size_t lane = 0; lane < kBlockCodes; lane += kLanes) {
        Vector sum = hn::Zero(d);
        for (size_t j = begin; j < end; ++j) {
          const Vector x = hn::Load(d, blocks + j * kBlockCodes + lane);
          sum = hn::Add(sum, hn::PopulationCount(hn::Xor(x, hn::Set(d, code[j]))));
        }
        hn::Store(sum, d, part + lane);
      }
      for (size_t i = 0; i < kBlockCodes; ++i) distances[i] += part[i];
    }
    for (size_t i = 0; i < kBlockCodes; ++i) {
      if (static_cast<int32_t>(distances[i]) > request.threshold) continue;
      request.hits[request.hit_count++] = {.position = static_cast<uint32_t>(b * kBlockCodes + i),
                                           .distance = distances[i]};
    }
  }
}

#if HWY_TARGET == HWY_SCALAR

void ScanWithin(const uint8_t* blocks, size_t block_count, const ScanQueries& queries,
                ScanRequest* requests, size_t request_count) {
  for (size_t i = 0; i < request_count; ++i) ScanExact(blocks, block_count, queries, requests[i]);
}

#elif HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON

// The processor counts the bits of bytes: one query at a time, two blocks at a time so that they
// share its loads.
class CountingScan {
 public:
  // Alone, a query waits for the memory, which is fastest when read in order and without gaps; in a
  // group the blocks are in the cache, and two at a time share the loads of the query.
  CountingScan(const ScanQueries& queries, ScanRequest& request, bool alone)
      : request_(request),
        query_(queries.planes(request.query)),
        bytes_(queries.bytes_per_code()),
        early_(alone ? bytes_ - bytes_ / 8 : EarlyPlane(bytes_, request.threshold)),
        alone_(alone),
        limit_(hn::Set(Bytes(), static_cast<uint8_t>(request.threshold))),
        beyond_(hn::Set(Bytes(), static_cast<uint8_t>(request.threshold + 1))) {}

  HWY_INLINE void Run(const uint8_t* HWY_RESTRICT blocks, size_t block_count) {
    size_t b = 0;
    for (; !alone_ && b + 2 <= block_count; b += 2) ScanSome<2>(blocks + b * BlockBytes(bytes_), b);
    for (; b < block_count; ++b) ScanSome<1>(blocks + b * BlockBytes(bytes_), b);
  }

 private:
  template <size_t kBlocks>
  HWY_INLINE void ScanSome(const uint8_t* HWY_RESTRICT blocks, size_t first) {
    const Bytes d;
    constexpr size_t kVectors = kBlocks * kBlockVectors;
    Vector distance[kVectors];
    for (size_t v = 0; v < kVectors; ++v) distance[v] = hn::Zero(d);
    for (size_t j = 0; j < early_; ++j) AddPlane<kBlocks>(blocks, j, distance);
    Vector any = Within(beyond_, distance[0]);
    for (size_t v = 1; v < kVectors; ++v) any = hn::Or(any, Within(beyond_, distance[v]));
    if (HWY_LIKELY(hn::AllTrue(d, hn::Eq(any, hn::Zero(d))))) return;
    for (size_t j = early_; j < bytes_; ++j) AddPlane<kBlocks>(blocks, j, distance);
    for (size_t b = 0; b < kBlocks; ++b) {
      ReportWithin<kBlockVectors>(distance + b * kBlockVectors, limit_, (first + b) * kBlockCodes,
                                  request_);
    }
  }

  template <size_t kBlocks>
  HWY_INLINE void AddPlane(const uint8_t* HWY_RESTRICT blocks, size_t j,
                           Vector* HWY_RESTRICT distance) {
    const Bytes d;
    const Vector q = hn::Load(d, query_ + j * kBlockCodes);
    for (size_t b = 0; b < kBlocks; ++b) {
      const uint8_t* plane = blocks + b * BlockBytes(bytes_) + j * kBlockCodes;
      for (size_t v = 0; v < kBlockVectors; ++v) {
        Vector& sum = distance[b * kBlockVectors + v];
        sum =
            hn::SaturatedAdd(sum, hn::PopulationCount(hn::Xor(hn::Load(d, plane + v * kLanes), q)));
      }
    }
  }

  ScanRequest& request_;
  const uint8_t* HWY_RESTRICT query_;
  size_t bytes_;
  size_t early_;
  bool alone_;
  Vector limit_;
  Vector beyond_;
};

void ScanWithin(const uint8_t* blocks, size_t block_count, const ScanQueries& queries,
                ScanRequest* requests, size_t request_count) {
  for (size_t i = 0; i < request_count; ++i)
    CountingScan(queries, requests[i], request_count == 1).Run(blocks, block_count);
}

#else

// The processor only looks up nibbles: queries share the splitting of the codes into nibbles, and
// each has tables of the distances of a nibble to its own, so that neither an exclusive-or nor a
// bit count is needed.
constexpr size_t kTableVectors = std::min<size_t>(kBlockVectors, 2);

template <size_t kQueries>
struct TableScan {
  const uint8_t* HWY_RESTRICT tables[kQueries];
  Vector distance[kQueries][kTableVectors];

  HWY_INLINE void AddPlane(const uint8_t* HWY_RESTRICT plane, size_t j) {
    const Bytes d;
    const Vector nibble = hn::Set(d, uint8_t{15});
    Vector low[kTableVectors], high[kTableVectors];
    for (size_t v = 0; v < kTableVectors; ++v) {
      const Vector x = hn::Load(d, plane + v * kLanes);
      low[v] = hn::And(x, nibble);
      high[v] = hn::ShiftRight<4>(x);
    }
    for (size_t q = 0; q < kQueries; ++q) {
      const Vector low_table = hn::LoadDup128(d, tables[q] + j * 32);
      const Vector high_table = hn::LoadDup128(d, tables[q] + j * 32 + 16);
      for (size_t v = 0; v < kTableVectors; ++v) {
        const Vector sum = hn::Add(hn::TableLookupBytes(low_table, low[v]),
                                   hn::TableLookupBytes(high_table, high[v]));
        distance[q][v] = hn::SaturatedAdd(distance[q][v], sum);
      }
    }
  }
};

template <size_t kQueries>
void ScanTables(const uint8_t* HWY_RESTRICT blocks, size_t block_count, const ScanQueries& queries,
                ScanRequest* requests) {
  const Bytes d;
  const size_t bytes = queries.bytes_per_code();
  size_t early = 1;
  TableScan<kQueries> scan;
  Vector limit[kQueries], beyond[kQueries];
  for (size_t q = 0; q < kQueries; ++q) {
    scan.tables[q] = queries.tables(requests[q].query);
    early = std::max(early, EarlyPlane(bytes, requests[q].threshold));
    const auto threshold = static_cast<uint8_t>(requests[q].threshold);
    limit[q] = hn::Set(d, threshold);
    beyond[q] = hn::Set(d, static_cast<uint8_t>(threshold + 1));
  }
  for (size_t b = 0; b < block_count; ++b) {
    for (size_t lane = 0; lane < kBlockCodes; lane += kTableVectors * kLanes) {
      const uint8_t* HWY_RESTRICT start = blocks + b * BlockBytes(bytes) + lane;
      for (size_t q = 0; q < kQueries; ++q) {
        for (size_t v = 0; v < kTableVectors; ++v) scan.distance[q][v] = hn::Zero(d);
      }
      for (size_t j = 0; j < early; ++j) scan.AddPlane(start + j * kBlockCodes, j);
      Vector any = hn::Zero(d);
      for (size_t q = 0; q < kQueries; ++q) {
        for (size_t v = 0; v < kTableVectors; ++v)
          any = hn::Or(any, Within(beyond[q], scan.distance[q][v]));
      }
      if (HWY_LIKELY(hn::AllTrue(d, hn::Eq(any, hn::Zero(d))))) continue;
      for (size_t j = early; j < bytes; ++j) scan.AddPlane(start + j * kBlockCodes, j);
      for (size_t q = 0; q < kQueries; ++q) {
        ReportWithin<kTableVectors>(scan.distance[q], limit[q], b * kBlockCodes + lane,
                                    requests[q]);
      }
    }
  }
}

void ScanWithin(const uint8_t* blocks, size_t block_count, const ScanQueries& queries,
                ScanRequest* requests, size_t request_count) {
  switch (request_count) {
    case 1:
      return ScanTables<1>(blocks, block_count, queries, requests);
    case 2:
      return ScanTables<2>(blocks, block_count, queries, requests);
    case 3:
      return ScanTables<3>(blocks, block_count, queries, requests);
    default:
      return ScanTables<4>(blocks, block_count, queries, requests);
  }
}

#endif

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

// Which distances a byte can tell apart decides the way of each request.
void ScanGroup(const uint8_t* blocks, size_t block_count, const ScanQueries& queries,
               ScanRequest* requests, size_t request_count) {
  ScanRequest group[kScanGroup];
  size_t origin[kScanGroup];
  size_t grouped = 0;
  const auto bits = static_cast<int32_t>(queries.bytes_per_code() * 8);
  for (size_t i = 0; i < request_count; ++i) {
    requests[i].hit_count = 0;
    if (requests[i].threshold < 0) continue;
    if (std::min(requests[i].threshold, bits) > kMaxByteDistance) {
      ScanExact(blocks, block_count, queries, requests[i]);
      continue;
    }
    origin[grouped] = i;
    group[grouped] = requests[i];
    group[grouped++].threshold = std::min(requests[i].threshold, bits);
  }
  if (grouped == 0) return;
  ScanWithin(blocks, block_count, queries, group, grouped);
  for (size_t i = 0; i < grouped; ++i) requests[origin[i]].hit_count = group[i].hit_count;
}

}  // namespace HWY_NAMESPACE
}  // namespace bitpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bitpool {

HWY_EXPORT(ScanGroup);
HWY_EXPORT(TargetName);

ScanQueries::ScanQueries(std::span<const uint8_t> rows, size_t bytes_per_code)
    : bytes_per_code_(bytes_per_code),
      codes_(rows.begin(), rows.end()),
      tables_(rows.size() * 32),
      planes_(rows.size() * kBlockCodes) {
  for (size_t i = 0; i < codes_.size(); ++i) {
    std::memset(planes_.data() + i * kBlockCodes, codes_[i], kBlockCodes);
    for (unsigned nibble = 0; nibble < 16; ++nibble) {
      tables_[i * 32 + nibble] = static_cast<uint8_t>(std::popcount(nibble ^ (codes_[i] & 15U)));
      tables_[i * 32 + 16 + nibble] =
          static_cast<uint8_t>(std::popcount(nibble ^ (codes_[i] >> 4U)));
    }
  }
}

void ScanBlocks(const uint8_t* blocks, size_t block_count, const ScanQueries& queries,
                std::span<ScanRequest> requests) {
  HWY_DYNAMIC_DISPATCH(ScanGroup)(blocks, block_count, queries, requests.data(), requests.size());
}

std::string ScanTargetName() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

void ForEachScanTarget(void (*action)(const char* target, void* state), void* state) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    action(hwy::TargetName(target), state);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace bitpool
#endif  // HWY_ONCE
