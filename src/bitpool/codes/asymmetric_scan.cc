#include "bitpool/codes/asymmetric_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "bitpool/base/error.h"
#include "bitpool/codes/binary_codes.h"

// This file is compiled once for every instruction set; the best one is chosen at run time.
#define HWY_WANT_AVX3_DL  // AVX-512 with VBMI
// Arrays of vectors need a size that is known when compiling.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bitpool/codes/asymmetric_scan.cc"
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

// Whether the tables have entries of seven bits.
#if HWY_TARGET == HWY_AVX3_DL
bool LooksUpSevenBits() { return true; }
#else
bool LooksUpSevenBits() { return false; }
#endif

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

// Whether any sum is within the limit.
template <size_t kCount>
HWY_INLINE bool AnyWithin(const Vector* HWY_RESTRICT sums, Vector limit) {
  const Bytes d;
  Vector least = sums[0];
  for (size_t v = 1; v < kCount; ++v) least = hn::Min(least, sums[v]);
  return !hn::AllFalse(d, hn::Eq(hn::Min(least, limit), least));
}

// Alone, a query waits for the memory, which comes fastest when it is read in order: blocks are
// touched before their bytes are added by weight. In a group they are in the cache.
HWY_INLINE void Touch(const uint8_t* bytes, size_t count) {
  constexpr size_t kLine = 64;
  for (size_t i = 0; i < count; i += kLine) (void)*static_cast<const volatile uint8_t*>(bytes + i);
}

// Sums of 16 bits, for long codes: with 8 bits, rounding down at every nibble would take away
// most of the penalty. The entries of two nibbles together fit into a byte.
class WideScan {
 public:
  WideScan(RealScanRequest& request, bool alone)
      : request_(request), bound_(*request.bound), alone_(alone) {}

  HWY_INLINE void Run(const uint8_t* HWY_RESTRICT blocks, size_t block_count) {
    const Words w;
    const auto limit = hn::Set(w, static_cast<uint16_t>(bound_.limit()));
    for (size_t b = 0; b < block_count; ++b, blocks += BlockBytes(bound_.bytes_per_code())) {
      if (alone_) Touch(blocks, BlockBytes(bound_.bytes_per_code()));
      for (size_t lane = 0; lane < kBlockCodes; lane += kLanes) {
        even_ = odd_ = hn::Zero(w);
        AddPlanes(blocks + lane, 0, bound_.early());
        if (!AnyWithinLimit(limit)) continue;
        AddPlanes(blocks + lane, bound_.early(), bound_.bytes_per_code());
        if (AnyWithinLimit(limit)) Report(b * kBlockCodes + lane);
      }
    }
  }

 private:
  using Words = hn::Repartition<uint16_t, Bytes>;

  HWY_INLINE void AddPlanes(const uint8_t* HWY_RESTRICT lanes, size_t begin, size_t end) {
    const Bytes d;
    const Words w;
    const Vector nibble = hn::Set(d, uint8_t{15});
    const auto low_byte = hn::Set(w, uint16_t{255});
    for (size_t p = begin; p < end; ++p) {
      const size_t j = bound_.order()[p];
      const uint8_t* tables = bound_.tables() + j * 32;
      const Vector x = hn::Load(d, lanes + j * kBlockCodes);
      const Vector low = hn::TableLookupBytes(hn::LoadDup128(d, tables), hn::And(x, nibble));
      const Vector high =
          hn::TableLookupBytes(hn::LoadDup128(d, tables + 16), hn::ShiftRight<4>(x));
      const auto sum = hn::BitCast(w, hn::Add(low, high));
      even_ = hn::SaturatedAdd(even_, hn::And(sum, low_byte));
      odd_ = hn::SaturatedAdd(odd_, hn::ShiftRight<8>(sum));
    }
  }

  HWY_INLINE bool AnyWithinLimit(hn::Vec<Words> limit) const {
    const auto least = hn::Min(even_, odd_);
    return !hn::AllFalse(Words(), hn::Eq(hn::Min(least, limit), least));
  }

  HWY_INLINE void Report(size_t first) {
    const Words w;
    HWY_ALIGN uint16_t even[kLanes / 2], odd[kLanes / 2];
    hn::Store(even_, w, even);
    hn::Store(odd_, w, odd);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      if ((lane % 2 == 0 ? even : odd)[lane / 2] > bound_.limit()) continue;
      request_.hits[request_.hit_count++] = static_cast<uint32_t>(first + lane);
    }
  }

  RealScanRequest& request_;
  const PenaltyBound& bound_;
  bool alone_;
  hn::Vec<Words> even_;  // sums of every other code
  hn::Vec<Words> odd_;
};

void ScanWide(const uint8_t* HWY_RESTRICT blocks, size_t block_count, RealScanRequest& request,
              bool alone) {
  WideScan(request, alone).Run(blocks, block_count);
}

#if HWY_TARGET == HWY_AVX3_DL

// The processor looks up seven bits at once, in tables of two vectors; the highest bit is a mask
// under which its penalty is added. One query at a time, so that its bytes come in the order of
// their weights, and four blocks at a time, so that they share the loads of the tables.
class SevenBitScan {
 public:
  explicit SevenBitScan(RealScanRequest& request)
      : request_(request),
        tables_(request.bound->tables()),
        order_(request.bound->order().data()),
        bytes_(request.bound->bytes_per_code()),
        early_(request.bound->early()),
        limit_(hn::Set(Bytes(), static_cast<uint8_t>(request.bound->limit()))) {}

  template <bool kAlone>
  HWY_INLINE void Run(const uint8_t* HWY_RESTRICT blocks, size_t block_count) {
    size_t b = 0;
    for (; b + 4 <= block_count; b += 4) {
      const uint8_t* some = blocks + b * BlockBytes(bytes_);
      if (kAlone) Touch(some, 4 * BlockBytes(bytes_));
      ScanSome<4>(some, b);
    }
    for (; b < block_count; ++b) ScanSome<1>(blocks + b * BlockBytes(bytes_), b);
  }

 private:
  template <size_t kBlocks>
  HWY_INLINE void ScanSome(const uint8_t* HWY_RESTRICT blocks, size_t first) {
    Vector sums[kBlocks];
    for (size_t b = 0; b < kBlocks; ++b) sums[b] = hn::Zero(Bytes());
    for (size_t p = 0; p < early_; ++p) AddPlane<kBlocks>(blocks, p, sums);
    if (HWY_LIKELY(!AnyWithin<kBlocks>(sums, limit_))) return;
    for (size_t p = early_; p < bytes_; ++p) AddPlane<kBlocks>(blocks, p, sums);
    for (size_t b = 0; b < kBlocks; ++b)
      ReportLanes(LanesWithin<1>(sums + b, limit_), (first + b) * kBlockCodes, request_);
  }

  template <size_t kBlocks>
  HWY_INLINE void AddPlane(const uint8_t* HWY_RESTRICT blocks, size_t p,
                           Vector* HWY_RESTRICT sums) {
    const __m512i low_half = LoadOnce(tables_ + p * 192);
    const __m512i high_half = LoadOnce(tables_ + p * 192 + 64);
    const __m512i highest = LoadOnce(tables_ + p * 192 + 128);
    const uint8_t* plane = blocks + order_[p] * kBlockCodes;
    for (size_t b = 0; b < kBlocks; ++b) {
      const __m512i x = LoadOnce(plane + b * BlockBytes(bytes_));
      const __m512i seven = _mm512_permutex2var_epi8(low_half, x, high_half);
      const __m512i all = _mm512_mask_add_epi8(seven, _mm512_movepi8_mask(x), seven, highest);
      sums[b] = hn::SaturatedAdd(sums[b], Vector{all});
    }
  }

  // Loads are the bottleneck, and compilers would load again for every use.
  static HWY_INLINE __m512i LoadOnce(const uint8_t* bytes) {
    __m512i vector = hn::Load(Bytes(), bytes).raw;
    asm("" : "+v"(vector));
    return vector;
  }

  RealScanRequest& request_;
  const uint8_t* HWY_RESTRICT tables_;
  const uint32_t* HWY_RESTRICT order_;
  size_t bytes_;
  size_t early_;
  Vector limit_;
};

void ScanNarrow(const uint8_t* blocks, size_t block_count, RealScanRequest** requests,
                size_t request_count) {
  if (request_count == 1) return SevenBitScan(*requests[0]).Run<true>(blocks, block_count);
  for (size_t i = 0; i < request_count; ++i)
    SevenBitScan(*requests[i]).Run<false>(blocks, block_count);
}

#else

// Queries share the splitting of the codes into nibbles.
constexpr size_t kTableVectors = std::min<size_t>(kBlockVectors, 2);

template <size_t kQueries>
struct TableScan {
  const uint8_t* HWY_RESTRICT tables[kQueries];
  Vector sums[kQueries][kTableVectors];

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
        const Vector sum = hn::SaturatedAdd(hn::TableLookupBytes(low_table, low[v]),
                                            hn::TableLookupBytes(high_table, high[v]));
        sums[q][v] = hn::SaturatedAdd(sums[q][v], sum);
      }
    }
  }
};

template <size_t kQueries>
void ScanTables(const uint8_t* HWY_RESTRICT blocks, size_t block_count,
                RealScanRequest** requests) {
  const Bytes d;
  const size_t bytes = requests[0]->bound->bytes_per_code();
  size_t early = 1;
  TableScan<kQueries> scan;
  Vector limit[kQueries];
  for (size_t q = 0; q < kQueries; ++q) {
    const PenaltyBound& bound = *requests[q]->bound;
    scan.tables[q] = bound.tables();
    early = std::max(early, bound.early_unordered());
    limit[q] = hn::Set(d, static_cast<uint8_t>(bound.limit()));
  }
  for (size_t b = 0; b < block_count; ++b) {
    for (size_t lane = 0; lane < kBlockCodes; lane += kTableVectors * kLanes) {
      const uint8_t* HWY_RESTRICT start = blocks + b * BlockBytes(bytes) + lane;
      for (size_t q = 0; q < kQueries; ++q) {
        for (size_t v = 0; v < kTableVectors; ++v) scan.sums[q][v] = hn::Zero(d);
      }
      for (size_t j = 0; j < early; ++j) scan.AddPlane(start + j * kBlockCodes, j);
      bool any = false;
      for (size_t q = 0; q < kQueries; ++q) any |= AnyWithin<kTableVectors>(scan.sums[q], limit[q]);
      if (HWY_LIKELY(!any)) continue;
      for (size_t j = early; j < bytes; ++j) scan.AddPlane(start + j * kBlockCodes, j);
      for (size_t q = 0; q < kQueries; ++q) {
        ReportLanes(LanesWithin<kTableVectors>(scan.sums[q], limit[q]), b * kBlockCodes + lane,
                    *requests[q]);
      }
    }
  }
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

namespace {

// Codes of more bytes have sums of 16 bits.
constexpr size_t kMaxNarrowBytes = 32;
// The largest limits. Entries of codes of few bytes count up to 127 at least: with a limit below,
// each can be out on its own. With more bytes twice the resolution is worth more.
constexpr size_t kShortBytes = 4;
constexpr double kShortLimit = 126;
constexpr double kNarrowLimit = 254;
constexpr double kWideLimit = 65534;
constexpr double kWideEntry = 127;
// Tables are made anew when D has fallen to this share of what they were made for.
constexpr double kCoarse = 0.75;
// A few ten thousand times what the roundings of scale and entries can add up to.
constexpr double kMargin = 1e-11;
// How many standard deviations beyond D the penalties of a block's codes must be, on average, for a
// look at them to pay: one that fails costs a mispredicted branch.
constexpr double kSureDeviations = 3.7;

constexpr double kUnitRoundoff = std::numeric_limits<double>::epsilon() / 2;

double LargestLimit(size_t bytes) {
  if (bytes > kMaxNarrowBytes) return kWideLimit;
  return bytes <= kShortBytes ? kShortLimit : kNarrowLimit;
}

bool Positive(double weight) { return weight >= 0; }

double PlaneWeight(const double* weights, size_t j) {
  double sum = 0;
  for (size_t i = 0; i < 8; ++i) sum += std::abs(weights[j * 8 + i]);
  return sum;
}

// The penalties of all values of `bits` bits, each the sum over the bits in order.
void ListPenalties(const double* weights, int bits, double* penalties) {
  penalties[0] = 0;
  for (int i = 0; i < bits; ++i) {
    const double one = Positive(weights[i]) ? 0 : -weights[i];
    const double zero = Positive(weights[i]) ? weights[i] : 0;
    const size_t half = size_t{1} << i;
    for (size_t value = 0; value < half; ++value) {
      penalties[half + value] = penalties[value] + one;
      penalties[value] += zero;
    }
  }
}

void QuantisePenalties(const double* penalties, size_t count, double scale, double most,
                       uint8_t* entries) {
  for (size_t i = 0; i < count; ++i)
    entries[i] = static_cast<uint8_t>(static_cast<int>(std::min(penalties[i] * scale, most)));
}

// The scale of sums of 16 bits at which the tables lose least, over all values of all nibbles:
// small entries lose by rounding, large ones where they do not fit. It only depends on the weights.
double ChooseWideScale(const double* weights, size_t bytes) {
  std::vector<double> penalties(bytes * 32);
  double largest = 0;
  for (size_t nibble = 0; nibble < bytes * 2; ++nibble)
    ListPenalties(weights + nibble * 4, 4, &penalties[nibble * 16]);
  for (const double penalty : penalties) largest = std::max(largest, penalty);
  if (largest == 0) return 0;
  constexpr int kDoublings = 14;
  double best_scale = 0;
  double best_kept = -1;
  for (int i = 0; i < kDoublings; ++i) {
    const double scale = std::ldexp(kWideEntry / largest, i);
    double kept = 0;
    for (const double penalty : penalties)
      kept += std::floor(std::min(penalty * scale, kWideEntry)) / scale;
    if (kept <= best_kept) break;
    best_kept = kept;
    best_scale = scale;
  }
  return best_scale;
}

}  // namespace

RealQueries::RealQueries(const MatrixFRef& weights)
    : size_(static_cast<size_t>(weights.cols())),
      bits_(static_cast<int>(weights.rows())),
      bytes_(BytesPerCode(bits_)),
      weights_(size_ * bytes_ * 8),
      totals_(size_),
      codes_(size_ * bytes_),
      order_(size_ * bytes_) {
  RequireBits(bits_);
  if (bytes_ > kMaxNarrowBytes) wide_scales_.resize(size_);
  for (size_t query = 0; query < size_; ++query) {
    const auto column = weights.col(static_cast<Index>(query));
    double* own = weights_.data() + query * bytes_ * 8;
    for (Index i = 0; i < column.size(); ++i) {
      if (!std::isfinite(column(i))) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("query {}: weight {} is {}; expected a finite number", query, i,
                                column(i)));
      }
      own[i] = column(i);
      totals_[query] += std::abs(own[i]);
      if (Positive(own[i])) {
        uint8_t& byte = codes_[query * bytes_ + static_cast<size_t>(i) / 8];
        byte = static_cast<uint8_t>(byte | 1U << (i % 8));
      }
    }
    const auto order = std::span(order_).subspan(query * bytes_, bytes_);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return PlaneWeight(own, a) > PlaneWeight(own, b);
    });
    if (!wide_scales_.empty()) wide_scales_[query] = ChooseWideScale(own, bytes_);
  }
}

void RealQueries::Score(size_t query, std::span<const uint8_t> rows, double* scores) const {
  constexpr size_t kTogether = 8;  // sums that do not wait for each other
  const double* weights = this->weights(query);
  const size_t count = rows.size() / bytes_;
  for (size_t begin = 0; begin < count; begin += kTogether) {
    const uint8_t* codes[kTogether];
    for (size_t c = 0; c < kTogether; ++c)
      codes[c] = rows.data() + std::min(begin + c, count - 1) * bytes_;
    double sums[kTogether] = {};
    for (size_t i = 0; i < static_cast<size_t>(bits_); ++i) {
      const auto weight = std::bit_cast<uint64_t>(weights[i]);
      for (size_t c = 0; c < kTogether; ++c) {
        const uint64_t zero = ~(uint64_t{codes[c][i / 8]} >> (i % 8)) & 1;
        sums[c] += std::bit_cast<double>(weight ^ zero << 63);
      }
    }
    std::copy_n(sums, std::min(kTogether, count - begin), scores + begin);
  }
}

void PenaltyBound::RuleOutBelow(double score, const RealQueries& queries, size_t query) {
  if (state_ == State::kTables && score <= score_) return;
  // Why nothing is missed. Let u = 2⁻⁵³, n the number of bits, A = Σ|hᵢ|, and Â and ŝ the computed
  // total and score of a code. Sums of n numbers are off by at most about nu times the sum of
  // their magnitudes: |Â − A| and |ŝ − s| are below 1.01 nuA. A code with ŝ >= score has
  //   d = (A − s) / 2 <= (Â − score) / 2 + 1.01 nuA,
  // and the two roundings of the right side add less than 2uA. Four times that is allowed for.
  const double total = queries.best_score(query);
  const double slack = 4 * (queries.bits() + 2) * kUnitRoundoff * total;
  penalty_ = (total - score) / 2 + slack;
  score_ = score;
  if (state_ != State::kTables || Coarse(queries, query)) Quantise(queries, query);
  // Every entry is at most its penalty times the scale times (1 + 8u), for the roundings of the at
  // most seven additions and the product; the margin is far larger than that.
  limit_ = static_cast<uint32_t>(penalty_ * scale_ * (1 + kMargin));
}

bool PenaltyBound::Coarse(const RealQueries& queries, size_t query) const {
  return penalty_ * scale_ < kCoarse * LargestLimit(bytes_) &&
         (!wide_ || scale_ < queries.wide_scales_[query]);
}

void PenaltyBound::Quantise(const RealQueries& queries, size_t query) {
  bytes_ = queries.bytes_per_code();
  wide_ = bytes_ > kMaxNarrowBytes;
  const double* weights = queries.weights(query);
  // Weights that are all zero have no penalties: all codes are within any limit.
  scale_ = penalty_ > 0 ? LargestLimit(bytes_) / penalty_ * (1 - 2 * kMargin) : 0;
  if (wide_) scale_ = std::min(scale_, queries.wide_scales_[query]);
  const auto order = std::span(queries.order_).subspan(query * bytes_, bytes_);
  order_.assign(order.begin(), order.end());
  ChooseEarly(weights);
  if (!wide_ && HWY_DYNAMIC_DISPATCH(LooksUpSevenBits)()) {
    FillSevenBits(weights);
  } else {
    FillNibbles(weights);
  }
  state_ = State::kTables;
}

// Bits of far codes differ from the signs with probability ½, so the penalty of some bytes has the
// mean ½Σ|hᵢ| and the variance ¼Σhᵢ².
void PenaltyBound::ChooseEarly(const double* weights) {
  const auto bytes_until_out = [&](const auto& plane) {
    double sum = 0, squares = 0;
    size_t p = 0;
    while (p < bytes_) {
      const double* of_plane = weights + plane(p++) * 8;
      for (size_t i = 0; i < 8; ++i) {
        sum += std::abs(of_plane[i]);
        squares += of_plane[i] * of_plane[i];
      }
      if (sum / 2 - penalty_ >= kSureDeviations * std::sqrt(squares) / 2) break;
    }
    return p;
  };
  early_ = bytes_until_out([this](size_t p) { return order_[p]; });
  early_unordered_ = bytes_until_out([](size_t p) { return p; });
}

void PenaltyBound::FillNibbles(const double* weights) {
  if (tables_.size() < bytes_ * 32) tables_ = AlignedBytes(bytes_ * 32);
  const double most = wide_ ? kWideEntry : 255;
  double penalties[16];
  for (size_t nibble = 0; nibble < bytes_ * 2; ++nibble) {
    ListPenalties(weights + nibble * 4, 4, penalties);
    QuantisePenalties(penalties, 16, scale_, most, tables_.data() + nibble * 16);
  }
}

// An entry of seven bits and that of the highest never add up to more than 255. A single bit is
// counted with at most half of that: where its weight is so large, two penalties still are out.
void PenaltyBound::FillSevenBits(const double* weights) {
  if (tables_.size() < bytes_ * 192) tables_ = AlignedBytes(bytes_ * 192);
  double penalties[128];
  for (size_t p = 0; p < bytes_; ++p) {
    const double* of_plane = weights + order_[p] * 8;
    uint8_t* entries = tables_.data() + p * 192;
    uint8_t highest = 0;
    const double penalty = std::abs(of_plane[7]);
    QuantisePenalties(&penalty, 1, scale_, 127, &highest);
    ListPenalties(of_plane, 7, penalties);
    QuantisePenalties(penalties, 128, scale_, 255 - highest, entries);
    const bool zero_costs = Positive(of_plane[7]);
    if (zero_costs) {
      for (size_t i = 0; i < 128; ++i) entries[i] = static_cast<uint8_t>(entries[i] + highest);
    }
    std::memset(entries + 128, zero_costs ? -highest : highest, 64);
  }
}

void ScanRealBlocks(const uint8_t* blocks, size_t block_count,
                    std::span<RealScanRequest> requests) {
  HWY_DYNAMIC_DISPATCH(ScanRealGroup)(blocks, block_count, requests.data(), requests.size());
}

}  // namespace bitpool
#endif  // HWY_ONCE
