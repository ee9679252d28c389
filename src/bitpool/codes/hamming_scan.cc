#include "bitpool/codes/hamming_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "bitpool/codes/early_look.h"
#include "bitpool/codes/instruction_sets.h"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bitpool/codes/hamming_scan.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "bitpool/codes/block_scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bitpool {
namespace HWY_NAMESPACE {

// Names that other kernels may use too stay local to this file.
namespace {

// Distances are bytes whose additions saturate, so 255 means "255 or more".
constexpr int32_t kMaxByteDistance = 254;

[[maybe_unused]] HWY_INLINE void ReportHits(const uint8_t* HWY_RESTRICT distances, uint64_t lanes,
                                            size_t first, ScanRequest& request) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(lanes));
    request.hits[request.hit_count++] = {.position = static_cast<uint32_t>(first + lane),
                                         .distance = distances[lane]};
  }
}

// Reports these lanes of `kCount` vectors.
template <size_t kCount>
HWY_INLINE void ReportHits(const Vector* HWY_RESTRICT distances, uint64_t lanes, size_t first,
                           ScanRequest& request) {
  if (HWY_LIKELY(lanes == 0)) return;
  HWY_ALIGN uint8_t stored[kCount * kLanes];
  for (size_t v = 0; v < kCount; ++v) hn::Store(distances[v], Bytes(), stored + v * kLanes);
  ReportHits(stored, lanes, first, request);
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

// The processor counts the bits of bytes: one query at a time. Two blocks at a time share its
// loads; alone, a query is read against one block after the other, in the order of the memory.
template <size_t kBlocksAtOnce>
class CountingScan {
 public:
  static constexpr size_t kBlocks = kBlocksAtOnce;
  static constexpr size_t kLinesPerStep = 1;
  static constexpr size_t kVectors = kBlocks * kBlockVectors;
  struct Sums {
    Vector of[kVectors];
    HWY_INLINE Sums() {
      for (Vector& vector : of) vector = hn::Zero(Bytes());
    }
  };

  HWY_INLINE CountingScan(const ScanQueries& queries, ScanRequest& request)
      : request_(request),
        query_(queries.planes(request.query)),
        bytes_(queries.bytes_per_code()),
        early_(EarlyHammingBytes(bytes_, request.threshold)),
        limit_(hn::Set(Bytes(), static_cast<uint8_t>(request.threshold))) {}

  size_t steps() const { return bytes_; }
  size_t early_steps() const { return early_; }
  size_t EarlyLine(size_t i) const {
    static_assert(kBlocks == 1);
    return i * kBlockCodes;
  }

  HWY_INLINE void Add(const uint8_t* HWY_RESTRICT blocks, size_t j, Sums& sums) const {
    const Bytes d;
    const Vector q = hn::Load(d, query_ + j * kBlockCodes);
    for (size_t b = 0; b < kBlocks; ++b) {
      const uint8_t* plane = blocks + b * BlockBytes(bytes_) + j * kBlockCodes;
      for (size_t v = 0; v < kBlockVectors; ++v) {
        Vector& sum = sums.of[b * kBlockVectors + v];
        sum =
            hn::SaturatedAdd(sum, hn::PopulationCount(hn::Xor(hn::Load(d, plane + v * kLanes), q)));
      }
    }
  }

  HWY_INLINE bool AnyWithin(const Sums& sums) const {
    return !hn::AllFalse(Bytes(), AnyOfWithin<kVectors>(sums.of, limit_));
  }

  HWY_INLINE void Report(const Sums& sums, size_t first) {
    for (size_t b = 0; b < kBlocks; ++b) {
      const Vector* of_block = sums.of + b * kBlockVectors;
      ReportHits<kBlockVectors>(of_block, LanesWithin<kBlockVectors>(of_block, limit_),
                                first + b * kBlockCodes, request_);
    }
  }

 private:
  ScanRequest& request_;
  const uint8_t* HWY_RESTRICT query_;
  size_t bytes_;
  size_t early_;
  Vector limit_;
};

void ScanWithin(const uint8_t* blocks, size_t block_count, const ScanQueries& queries,
                ScanRequest* requests, size_t request_count) {
  const size_t bytes = queries.bytes_per_code();
  if (request_count == 1) {
    CountingScan<1> alone(queries, requests[0]);
    ScanRuns<true>(alone, blocks, block_count, bytes);
    return;
  }
  for (size_t i = 0; i < request_count; ++i) {
    CountingScan<2> scan(queries, requests[i]);
    const size_t scanned = ScanRuns<false>(scan, blocks, block_count, bytes);
    if (scanned == block_count) continue;
    CountingScan<1> last(queries, requests[i]);
    ScanCodes<false>(last, blocks + scanned * BlockBytes(bytes), scanned * kBlockCodes, 0);
  }
}

#else

// The processor looks up nibbles: each query has tables of the distances of a nibble to its own, so
// that neither an exclusive-or nor a bit count is needed.
template <size_t kQueries>
void ScanTables(const uint8_t* HWY_RESTRICT blocks, size_t block_count, const ScanQueries& queries,
                ScanRequest* requests) {
  const auto report = [requests](size_t q, uint64_t lanes, const Vector* distances, size_t first)
                          HWY_ATTR {
                            constexpr size_t kVectors = std::min<size_t>(kBlockVectors, 2);
                            ReportHits<kVectors>(distances, lanes, first, requests[q]);
                          };
  using Scan = TableScan<kQueries, decltype(report)>;
  const size_t bytes = queries.bytes_per_code();
  typename Scan::Query prepared[kQueries];
  for (size_t q = 0; q < kQueries; ++q) {
    prepared[q] = {.tables = queries.tables(requests[q].query),
                   .limit = static_cast<uint8_t>(requests[q].threshold),
                   .early = EarlyHammingBytes(bytes, requests[q].threshold)};
  }
  Scan scan(prepared, bytes, report);
  ScanByLanes<kQueries == 1>(scan, blocks, block_count, bytes);
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

}  // namespace

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

// Uses distances of one byte for requests whose thresholds fit into one, and ScanExact for the
// others.
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

namespace {

// The distance of any two nibbles: a query of a few microseconds cannot wait for bits to be counted
// one table at a time.
constexpr auto kNibbleDistances = [] {
  std::array<std::array<uint8_t, 16>, 16> distances = {};
  for (unsigned a = 0; a < 16; ++a) {
    for (unsigned b = 0; b < 16; ++b) distances[a][b] = static_cast<uint8_t>(std::popcount(a ^ b));
  }
  return distances;
}();

}  // namespace

ScanQueries::ScanQueries(std::span<const uint8_t> rows, size_t bytes_per_code)
    : bytes_per_code_(bytes_per_code),
      codes_(rows.begin(), rows.end()),
      tables_(rows.size() * 32),
      planes_(rows.size() * kBlockCodes) {
  for (size_t i = 0; i < codes_.size(); ++i) {
    std::memset(planes_.data() + i * kBlockCodes, codes_[i], kBlockCodes);
    std::memcpy(tables_.data() + i * 32, kNibbleDistances[codes_[i] & 15U].data(), 16);
    std::memcpy(tables_.data() + i * 32 + 16, kNibbleDistances[codes_[i] >> 4U].data(), 16);
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
