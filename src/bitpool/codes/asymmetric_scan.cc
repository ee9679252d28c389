#include "bitpool/codes/asymmetric_scan.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "bitpool/codes/instruction_sets.h"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bitpool/codes/asymmetric_scan.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "bitpool/codes/block_scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bitpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3_DL
bool LooksUpSevenBits() { return true; }
#else
bool LooksUpSevenBits() { return false; }
#endif

// Names that other kernels may use too stay local to this file.
namespace {

[[maybe_unused]] HWY_INLINE void ReportLanes(uint64_t lanes, size_t first,
                                             RealScanRequest& request) {
  for (; lanes != 0; lanes &= lanes - 1) {
    request.hits[request.hit_count++] =
        static_cast<uint32_t>(first + static_cast<size_t>(std::countr_zero(lanes)));
  }
}

void ReportAll(size_t block_count, RealScanRequest& request) {
  request.hit_count = block_count * kBlockCodes;
  std::iota(request.hits, request.hits + request.hit_count, uint32_t{0});
}

#if HWY_TARGET == HWY_SCALAR

void ScanWide(const uint8_t* HWY_RESTRICT blocks, size_t block_count, RealScanRequest& request,
              bool /*alone*/) {
  const PenaltyBound& bound = *request.bound;
  const uint8_t* tables = bound.tables();
  for (size_t i = 0; i < block_count * kBlockCodes; ++i) {
    const uint8_t* code =
        blocks + i / kBlockCodes * BlockBytes(bound.bytes_per_code()) + i % kBlockCodes;
    uint32_t sum = 0;
    for (size_t j = 0; j < bound.bytes_per_code() && sum <= bound.limit(); ++j) {
      const uint8_t byte = code[j * kBlockCodes];
      sum += uint32_t{tables[j * 32 + (byte & 15)]} + tables[j * 32 + 16 + (byte >> 4)];
    }
    if (sum <= bound.limit()) request.hits[request.hit_count++] = static_cast<uint32_t>(i);
  }
}

void ScanNarrow(const uint8_t* blocks, size_t block_count, RealScanRequest** requests,
                size_t request_count) {
  for (size_t i = 0; i < request_count; ++i) ScanWide(blocks, block_count, *requests[i], false);
}

#else

// Sums of 16 bits, for long codes: with 8 bits, rounding down at every entry would take away most
// of the penalty.
using Words = hn::Repartition<uint16_t, Bytes>;

template <size_t kVectors>
struct WideSums {
  hn::Vec<Words> even[kVectors];  // of every other code
  hn::Vec<Words> odd[kVectors];

  HWY_INLINE WideSums() {
    for (size_t v = 0; v < kVectors; ++v) even[v] = odd[v] = hn::Zero(Words());
  }

  HWY_INLINE void Add(size_t v, Vector bytes) {
    const auto words = hn::BitCast(Words(), bytes);
    even[v] = hn::SaturatedAdd(even[v], hn::And(words, hn::Set(Words(), uint16_t{255})));
    odd[v] = hn::SaturatedAdd(odd[v], hn::ShiftRight<8>(words));
  }

  HWY_INLINE bool AnyWithin(hn::Vec<Words> limit) const {
    auto least = hn::Min(even[0], odd[0]);
    for (size_t v = 1; v < kVectors; ++v) least = hn::Min(least, hn::Min(even[v], odd[v]));
    return !hn::AllFalse(Words(), hn::Eq(hn::Min(least, limit), least));
  }

  HWY_INLINE void Report(uint32_t limit, size_t first, RealScanRequest& request) const {
    for (size_t v = 0; v < kVectors; ++v) {
      HWY_ALIGN uint16_t sums[2][kLanes / 2];
      hn::Store(even[v], Words(), sums[0]);
      hn::Store(odd[v], Words(), sums[1]);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        if (sums[lane % 2][lane / 2] > limit) continue;
        request.hits[request.hit_count++] = static_cast<uint32_t>(first + v * kLanes + lane);
      }
    }
  }
};

#if HWY_TARGET == HWY_AVX3_DL

// The processor looks up seven bits at once, in tables of two vectors; the highest bit is a mask
// under which its penalty is added. One query at a time, so that its bytes come in the order of
// their weights, and some blocks at a time, so that they share the loads of the tables.
class SevenBitTables {
 public:
  HWY_INLINE explicit SevenBitTables(const PenaltyBound& bound)
      : tables_(bound.tables()), order_(bound.order().data()), bytes_(bound.bytes_per_code()) {}

  // Calls add(b, penalties) with those of the p-th byte of each block.
  template <size_t kBlocks, class Add>
  HWY_INLINE void LookUp(const uint8_t* HWY_RESTRICT blocks, size_t p, const Add& add) const {
    const __m512i low_half = LoadOnce(tables_ + p * 192);
    const __m512i high_half = LoadOnce(tables_ + p * 192 + 64);
    const __m512i highest = LoadOnce(tables_ + p * 192 + 128);
    const uint8_t* plane = blocks + order_[p] * kBlockCodes;
    for (size_t b = 0; b < kBlocks; ++b) {
      const __m512i x = LoadOnce(plane + b * BlockBytes(bytes_));
      const __m512i seven = _mm512_permutex2var_epi8(low_half, x, high_half);
      const __m512i all = _mm512_mask_add_epi8(seven, _mm512_movepi8_mask(x), seven, highest);
      add(b, Vector{all});
    }
  }

 private:
  // Loads are the bottleneck, and compilers would load again for every use.
  static HWY_INLINE __m512i LoadOnce(const uint8_t* bytes) {
    __m512i vector = hn::Load(Bytes(), bytes).raw;
    asm("" : "+v"(vector));
    return vector;
  }

  const uint8_t* HWY_RESTRICT tables_;
  const uint32_t* HWY_RESTRICT order_;
  size_t bytes_;
};

template <size_t kBlocksAtOnce>
class NarrowSevenBitScan {
 public:
  static constexpr size_t kBlocks = kBlocksAtOnce;
  static constexpr size_t kLinesPerStep = kBlocks;
  struct Sums {
    Vector of[kBlocks];
    HWY_INLINE Sums() {
      for (Vector& vector : of) vector = hn::Zero(Bytes());
    }
  };

  HWY_INLINE explicit NarrowSevenBitScan(RealScanRequest& request)
      : request_(request),
        tables_(*request.bound),
        bytes_(request.bound->bytes_per_code()),
        early_(request.bound->early()),
        lines_(request.bound->early_lines()),
        limit_(hn::Set(Bytes(), static_cast<uint8_t>(request.bound->limit()))) {}

  size_t steps() const { return bytes_; }
  size_t early_steps() const { return early_; }
  size_t EarlyLine(size_t i) const { return lines_[i]; }

  HWY_INLINE void Add(const uint8_t* HWY_RESTRICT blocks, size_t p, Sums& sums) const {
    tables_.LookUp<kBlocks>(blocks, p, [&](size_t b, Vector penalties) HWY_ATTR {
      sums.of[b] = hn::SaturatedAdd(sums.of[b], penalties);
    });
  }

  HWY_INLINE bool AnyWithin(const Sums& sums) const {
    return !hn::AllFalse(Bytes(), AnyOfWithin<kBlocks>(sums.of, limit_));
  }

  HWY_INLINE void Report(const Sums& sums, size_t first) {
    for (size_t b = 0; b < kBlocks; ++b)
      ReportLanes(LanesWithin<1>(sums.of + b, limit_), first + b * kBlockCodes, request_);
  }

 private:
  RealScanRequest& request_;
  SevenBitTables tables_;
  size_t bytes_;
  size_t early_;
  const uint32_t* HWY_RESTRICT lines_;
  Vector limit_;
};

// The penalties of two bytes are added before they are widened. Where that saturates, which is rare
// because far codes have half of the largest penalties, the sum is less than it could be, but never
// more than it may be.
template <size_t kBlocksAtOnce>
class WideSevenBitScan {
 public:
  static constexpr size_t kBlocks = kBlocksAtOnce;
  static constexpr size_t kLinesPerStep = 2 * kBlocks;
  using Sums = WideSums<kBlocks>;

  HWY_INLINE explicit WideSevenBitScan(RealScanRequest& request)
      : request_(request),
        tables_(*request.bound),
        steps_((request.bound->bytes_per_code() + 1) / 2),
        early_((request.bound->early() + 1) / 2),
        lines_(request.bound->early_lines()),
        limit_(hn::Set(Words(), static_cast<uint16_t>(request.bound->limit()))) {}

  size_t steps() const { return steps_; }
  size_t early_steps() const { return early_; }
  size_t EarlyLine(size_t i) const { return lines_[i]; }

  HWY_INLINE void Add(const uint8_t* HWY_RESTRICT blocks, size_t step, Sums& sums) const {
    Vector first[kBlocks];
    tables_.LookUp<kBlocks>(blocks, 2 * step,
                            [&](size_t b, Vector penalties) HWY_ATTR { first[b] = penalties; });
    tables_.LookUp<kBlocks>(blocks, 2 * step + 1, [&](size_t b, Vector penalties) HWY_ATTR {
      sums.Add(b, hn::SaturatedAdd(first[b], penalties));
    });
  }

  HWY_INLINE bool AnyWithin(const Sums& sums) const { return sums.AnyWithin(limit_); }

  HWY_INLINE void Report(const Sums& sums, size_t first) {
    if (AnyWithin(sums)) sums.Report(request_.bound->limit(), first, request_);
  }

 private:
  RealScanRequest& request_;
  SevenBitTables tables_;
  size_t steps_;
  size_t early_;
  const uint32_t* HWY_RESTRICT lines_;
  hn::Vec<Words> limit_;
};

template <bool kFetch, template <size_t> class Scan>
HWY_INLINE void ScanSevenBits(const uint8_t* blocks, size_t block_count, RealScanRequest& request) {
  const size_t bytes = request.bound->bytes_per_code();
  Scan<kRealBlocksAtOnce> scan(request);
  Scan<1> one_by_one(request);
  for (size_t b = ScanRuns<kFetch>(scan, blocks, block_count, bytes); b < block_count; ++b)
    ScanCodes<false>(one_by_one, blocks + b * BlockBytes(bytes), b * kBlockCodes, 0);
}

void ScanWide(const uint8_t* blocks, size_t block_count, RealScanRequest& request, bool alone) {
  if (alone) return ScanSevenBits<true, WideSevenBitScan>(blocks, block_count, request);
  ScanSevenBits<false, WideSevenBitScan>(blocks, block_count, request);
}

void ScanNarrow(const uint8_t* blocks, size_t block_count, RealScanRequest** requests,
                size_t request_count) {
  if (request_count == 1)
    return ScanSevenBits<true, NarrowSevenBitScan>(blocks, block_count, *requests[0]);
  for (size_t i = 0; i < request_count; ++i)
    ScanSevenBits<false, NarrowSevenBitScan>(blocks, block_count, *requests[i]);
}

#else

// Entries of nibbles are at most 127: those of two are added before they are widened.
class WideNibbleScan {
 public:
  static constexpr size_t kScanLanes = kLanes;
  static constexpr size_t kLinesPerStep = 1;
  using Sums = WideSums<1>;

  HWY_INLINE explicit WideNibbleScan(RealScanRequest& request)
      : request_(request),
        bound_(*request.bound),
        limit_(hn::Set(Words(), static_cast<uint16_t>(bound_.limit()))) {}

  size_t steps() const { return bound_.bytes_per_code(); }
  size_t early_steps() const { return bound_.early(); }
  size_t EarlyLine(size_t i) const { return bound_.early_lines()[i]; }

  HWY_INLINE void Add(const uint8_t* HWY_RESTRICT codes, size_t p, Sums& sums) const {
    const Bytes d;
    const size_t j = bound_.order()[p];
    const uint8_t* tables = bound_.tables() + j * 32;
    const Vector x = hn::Load(d, codes + j * kBlockCodes);
    const Vector low =
        hn::TableLookupBytes(hn::LoadDup128(d, tables), hn::And(x, hn::Set(d, uint8_t{15})));
    const Vector high = hn::TableLookupBytes(hn::LoadDup128(d, tables + 16), hn::ShiftRight<4>(x));
    sums.Add(0, hn::Add(low, high));
  }

  HWY_INLINE bool AnyWithin(const Sums& sums) const { return sums.AnyWithin(limit_); }

  HWY_INLINE void Report(const Sums& sums, size_t first) {
    if (AnyWithin(sums)) sums.Report(bound_.limit(), first, request_);
  }

 private:
  RealScanRequest& request_;
  const PenaltyBound& bound_;
  hn::Vec<Words> limit_;
};

void ScanWide(const uint8_t* blocks, size_t block_count, RealScanRequest& request, bool alone) {
  WideNibbleScan scan(request);
  const size_t bytes = request.bound->bytes_per_code();
  if (alone) return ScanByLanes<true>(scan, blocks, block_count, bytes);
  ScanByLanes<false>(scan, blocks, block_count, bytes);
}

template <size_t kQueries>
void ScanTables(const uint8_t* HWY_RESTRICT blocks, size_t block_count,
                RealScanRequest** requests) {
  const auto report = [requests](size_t q, uint64_t lanes, const Vector* /*sums*/, size_t first)
                          HWY_ATTR { ReportLanes(lanes, first, *requests[q]); };
  using Scan = TableScan<kQueries, decltype(report)>;
  typename Scan::Query queries[kQueries];
  for (size_t q = 0; q < kQueries; ++q) {
    const PenaltyBound& bound = *requests[q]->bound;
    queries[q] = {.tables = bound.tables(),
                  .limit = static_cast<uint8_t>(bound.limit()),
                  .early = bound.early_unordered()};
  }
  const size_t bytes = requests[0]->bound->bytes_per_code();
  Scan scan(queries, bytes, report);
  ScanByLanes<kQueries == 1>(scan, blocks, block_count, bytes);
}

void ScanNarrow(const uint8_t* blocks, size_t block_count, RealScanRequest** requests,
                size_t request_count) {
  switch (request_count) {
    case 1:
      return ScanTables<1>(blocks, block_count, requests);
    case 2:
      return ScanTables<2>(blocks, block_count, requests);
    case 3:
      return ScanTables<3>(blocks, block_count, requests);
    default:
      return ScanTables<4>(blocks, block_count, requests);
  }
}

#endif
#endif

}  // namespace

void ScanRealGroup(const uint8_t* blocks, size_t block_count, RealScanRequest* requests,
                   size_t request_count) {
  RealScanRequest* group[kRealScanGroup];
  size_t grouped = 0;
  for (size_t i = 0; i < request_count; ++i) {
    requests[i].hit_count = 0;
    switch (requests[i].bound->state()) {
      case PenaltyBound::State::kEverything:
        ReportAll(block_count, requests[i]);
        break;
      case PenaltyBound::State::kNothing:
        break;
      case PenaltyBound::State::kTables:
        if (requests[i].bound->wide()) {
          ScanWide(blocks, block_count, requests[i], request_count == 1);
        } else {
          group[grouped++] = &requests[i];
        }
        break;
    }
  }
  if (grouped > 0) ScanNarrow(blocks, block_count, group, grouped);
}

}  // namespace HWY_NAMESPACE
}  // namespace bitpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bitpool {

HWY_EXPORT(ScanRealGroup);
HWY_EXPORT(LooksUpSevenBits);

void ScanRealBlocks(const uint8_t* blocks, size_t block_count,
                    std::span<RealScanRequest> requests) {
  HWY_DYNAMIC_DISPATCH(ScanRealGroup)(blocks, block_count, requests.data(), requests.size());
}

bool ScansSevenBits() { return HWY_DYNAMIC_DISPATCH(LooksUpSevenBits)(); }

}  // namespace bitpool
#endif  // HWY_ONCE
