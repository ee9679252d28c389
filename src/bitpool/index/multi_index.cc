#include "bitpool/index/multi_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "bitpool/base/error.h"
#include "bitpool/codes/binary_codes.h"

namespace bitpool {
namespace {

constexpr int kMaxKeyBits = 24;
// A table has at most one key for so many codes: its offsets then take a third of the room of its
// positions, and a bucket about fills a cache line.
constexpr size_t kCodesPerKey = 3;

// Buckets whose memory is asked for before the first of them is looked at.
constexpr size_t kBucketsAtOnce = 128;
// Candidates whose codes are asked for before the first of them is compared.
constexpr size_t kCandidatesAtOnce = 512;
// Candidates compared under one threshold.
constexpr size_t kCompareAtOnce = 32;
constexpr size_t kScanAtOnce = 512;
constexpr size_t kCopyAtOnce = 8;

// Nanoseconds, measured on one core of an EPYC (Genoa) with 1 to 10 million codes of 32 to 512
// bits.
constexpr double kProbeCost = 4;
constexpr double kCandidateCost = 6;
constexpr double kCandidateByteCost = 0.06;
constexpr double kScanCost = 0.2;
constexpr double kScanByteCost = 0.035;

uint64_t LoadWord(const uint8_t* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// kBytes is the length of the codes when it is known at compile time, else 0.
template <size_t kBytes>
[[gnu::always_inline]] inline int32_t Distance(const uint8_t* a, const uint8_t* b, size_t bytes,
                                               int32_t threshold) {
  const size_t length = kBytes != 0 ? kBytes : bytes;
  int32_t distance = 0;
  size_t i = 0;
  for (; i + 8 <= length; i += 8) {
    distance += std::popcount(LoadWord(a + i) ^ LoadWord(b + i));
    if (kBytes == 0 && distance > threshold) return distance;
  }
  if (i + 4 <= length) {
    uint32_t x = 0, y = 0;
    std::memcpy(&x, a + i, sizeof(x));
    std::memcpy(&y, b + i, sizeof(y));
    distance += std::popcount(x ^ y);
    i += 4;
  }
  for (; i < length; ++i) distance += std::popcount(static_cast<uint32_t>(a[i] ^ b[i]));
  return distance;
}

// The codes to compare with a query, and where those within the threshold go: hits get the number
// of the code among the compared ones. Hits need room for all of them.
struct Comparison {
  const uint8_t* query;
  const uint8_t* rows;
  size_t bytes;
  int32_t threshold;
  ScanHit* hits;
};

// Candidates are often hits, so every one is written behind the last hit, which then counts or not:
// no branch to mispredict.
template <size_t kBytes>
[[gnu::always_inline]] inline size_t CompareListed(const Comparison& comparison,
                                                   const uint32_t* positions, size_t count) {
  const size_t bytes = kBytes != 0 ? kBytes : comparison.bytes;
  ScanHit* const hits = comparison.hits;
  const int32_t threshold = comparison.threshold;
  size_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* code = comparison.rows + positions[i] * bytes;
    const int32_t distance = Distance<kBytes>(comparison.query, code, bytes, threshold);
    hits[found] = {.position = static_cast<uint32_t>(i),
                   .distance = static_cast<uint32_t>(distance)};
    found += distance <= threshold ? 1 : 0;
  }
  return found;
}

// In a scan hits are rare, so a group of codes has one branch.
template <size_t kBytes>
[[gnu::always_inline]] inline size_t CompareAll(const Comparison& comparison, size_t count) {
  constexpr size_t kGroup = 8;
  const size_t bytes = kBytes != 0 ? kBytes : comparison.bytes;
  const int32_t threshold = comparison.threshold;
  size_t found = 0;
  for (size_t begin = 0; begin < count; begin += kGroup) {
    const size_t group = std::min(kGroup, count - begin);
    int32_t distances[kGroup];
    int32_t nearest = threshold + 1;
    const auto measure = [&](size_t i) __attribute__((always_inline)) {
      const uint8_t* code = comparison.rows + (begin + i) * bytes;
      distances[i] = Distance<kBytes>(comparison.query, code, bytes, threshold);
      nearest = std::min(nearest, distances[i]);
    };
    if (group == kGroup) {  // a loop that the compiler unrolls
      for (size_t i = 0; i < kGroup; ++i) measure(i);
    } else {
      for (size_t i = 0; i < group; ++i) measure(i);
    }
    if (nearest > threshold) continue;
    for (size_t i = 0; i < group; ++i) {
      if (distances[i] > threshold) continue;
      comparison.hits[found++] = {.position = static_cast<uint32_t>(begin + i),
                                  .distance = static_cast<uint32_t>(distances[i])};
    }
  }
  return found;
}

template <size_t kBytes>
size_t CompareListedPlain(const Comparison& comparison, const uint32_t* positions, size_t count) {
  return CompareListed<kBytes>(comparison, positions, count);
}

template <size_t kBytes>
size_t CompareAllPlain(const Comparison& comparison, size_t count) {
  return CompareAll<kBytes>(comparison, count);
}

#if defined(__x86_64__)
// The same with an instruction that the oldest processors lack.
template <size_t kBytes>
[[gnu::target("popcnt")]] size_t CompareListedPopcnt(const Comparison& comparison,
                                                     const uint32_t* positions, size_t count) {
  return CompareListed<kBytes>(comparison, positions, count);
}

template <size_t kBytes>
[[gnu::target("popcnt")]] size_t CompareAllPopcnt(const Comparison& comparison, size_t count) {
  return CompareAll<kBytes>(comparison, count);
}

bool HasPopcnt() {
  static const bool has = __builtin_cpu_supports("popcnt");
  return has;
}
#endif

}  // namespace

struct MultiIndex::Kernels {
  // Compares the codes at these positions.
  size_t (*listed)(const Comparison&, const uint32_t* positions, size_t count);
  // Compares the first `count` codes.
  size_t (*all)(const Comparison&, size_t count);

  template <size_t kBytes>
  static const Kernels* Best() {
#if defined(__x86_64__)
    static constexpr Kernels kFast = {CompareListedPopcnt<kBytes>, CompareAllPopcnt<kBytes>};
    if (HasPopcnt()) return &kFast;
#endif
    static constexpr Kernels kPlain = {CompareListedPlain<kBytes>, CompareAllPlain<kBytes>};
    return &kPlain;
  }

  static const Kernels* ForBytes(size_t bytes) {
    switch (bytes) {
      case 4:
        return Best<4>();
      case 8:
        return Best<8>();
      case 16:
        return Best<16>();
      case 32:
        return Best<32>();
      case 64:
        return Best<64>();
      default:
        return Best<0>();
    }
  }
};

// Arrays on large pages where the system has them and the arrays fill them: lookups go everywhere,
// and would otherwise wait for address translation as long as for memory.
struct MultiIndex::Storage {
  explicit Storage(size_t count) {
    constexpr size_t kLargePage = size_t{1} << 21;
    constexpr size_t kCacheLine = 64;
    const size_t bytes = count * sizeof(uint32_t);
    const size_t unit = bytes >= kLargePage ? kLargePage : kCacheLine;
    const size_t rounded = (bytes + unit - 1) / unit * unit;
    data = static_cast<uint32_t*>(std::aligned_alloc(unit, rounded));
    if (data == nullptr) {
      throw Error(ErrorCode::kResources,
                  fmt::format("no memory for a multi-index of {} bytes", bytes));
    }
#if defined(__linux__)
    if (unit == kLargePage) (void)madvise(data, rounded, MADV_HUGEPAGE);
#endif
  }
  ~Storage() { std::free(data); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  uint32_t* data;
};

// One search. Steps number the lookups: step m·s + i looks up, in substring i, the keys that differ
// from the query's in exactly s bits. A code that no step up to d finds differs in at least s + 1
// bits of the substrings up to i and in s bits of the others, so its distance is at least
// (i + 1)(s + 1) + (m − i − 1)s = d + 1: after step d, all codes within distance d have been seen.
struct MultiIndex::Request {
  const uint8_t* query;
  const TopK* top;  // null: everything within the radius
  int32_t radius;
  uint32_t first_position;  // codes before this one are passed over
  CandidateSink accept;

  int32_t threshold() const { return top != nullptr ? top->threshold() : radius; }
};

namespace {

size_t CountCodes(int bits, std::span<const uint8_t> rows) {
  RequireBits(bits);
  const size_t bytes = BytesPerCode(bits);
  if (rows.size() % bytes != 0 || rows.size() / bytes > UINT32_MAX) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} bytes are not fewer than 2^32 whole codes of {} bits", rows.size(), bits));
  }
  return rows.size() / bytes;
}

// About log2(n) bits per substring: then a key finds a handful of codes.
int ChooseSubstrings(int bits, size_t size) {
  const double key_bits =
      std::clamp(std::log2(static_cast<double>(size) + 1), 1.0, double{kMaxKeyBits});
  return std::max(1, static_cast<int>(std::lround(bits / key_bits)));
}

int ChooseKeyBits(int bits, int substrings, size_t size) {
  const int affordable = static_cast<int>(std::bit_width(size / kCodesPerKey)) - 1;
  return std::clamp(affordable, 0, std::min(bits / substrings, kMaxKeyBits));
}

// Copies positions in groups, the last one too far: most buckets fit one group, and a loop over so
// few would mispredict its end. `to` has room for another group; `all_end` is where reading must
// stop.
void CopyPositions(const uint32_t* from, size_t count, const uint32_t* all_end, uint32_t* to) {
  if (static_cast<size_t>(all_end - from) < count + kCopyAtOnce) {
    std::copy_n(from, count, to);
    return;
  }
  size_t i = 0;
  do {
    std::memcpy(to + i, from + i, kCopyAtOnce * sizeof(uint32_t));
    i += kCopyAtOnce;
  } while (i < count);
}

// The next larger number with as many bits set (Gosper); 0 follows 0.
uint32_t NextOfSameWeight(uint32_t mask) {
  if (mask == 0) return 0;
  const uint32_t ripple = mask + (mask & (0 - mask));
  return ripple | ((mask ^ ripple) >> 2) >> std::countr_zero(mask);
}

[[noreturn]] void ThrowCorrupt(size_t substring, const char* what) {
  throw Error(ErrorCode::kCorrupt, fmt::format("multi-index, substring {}: {}", substring, what));
}

}  // namespace

MultiIndex::MultiIndex(int bits, std::span<const uint8_t> rows, int substrings, int key_bits)
    : bits_(bits),
      bytes_(BytesPerCode(bits)),
      rows_(rows),
      size_(rows.size() / bytes_),
      substrings_(substrings),
      key_bits_(key_bits),
      key_mask_((uint32_t{1} << key_bits) - 1),
      kernels_(Kernels::ForBytes(bytes_)) {
  for (int i = 0; i < substrings; ++i) {
    const auto start = static_cast<uint32_t>(int64_t{bits} * i / substrings);
    const uint32_t shift = start % 8;
    fields_.push_back({.byte = start / 8,
                       .bytes = (shift + static_cast<uint32_t>(key_bits) + 7) / 8,
                       .shift = shift});
  }
  double probes = 1;
  for (int s = 0; s <= key_bits; ++s) {
    probes_of_radius_.push_back(probes);
    probes = probes * (key_bits - s) / (s + 1);
  }
}

uint32_t MultiIndex::Key(const uint8_t* code, const Field& field) const {
  uint32_t key = 0;
  for (uint32_t i = 0; i < field.bytes; ++i) key |= uint32_t{code[field.byte + i]} << (8 * i);
  return key >> field.shift & key_mask_;
}

MultiIndex MultiIndex::Build(int bits, std::span<const uint8_t> rows, const RunContext& context) {
  const size_t size = CountCodes(bits, rows);
  const int substrings = ChooseSubstrings(bits, size);
  MultiIndex index(bits, rows, substrings, ChooseKeyBits(bits, substrings, size));
  const size_t tables = static_cast<size_t>(substrings);
  const size_t offset_count = tables * index.table_size();
  auto storage = std::make_shared<Storage>(offset_count + tables * size);
  uint32_t* const positions = storage->data + offset_count;
  context.ParallelFor(tables, 1, [&](size_t i, size_t /*end*/) {
    index.FillTable(i, storage->data + i * index.table_size(), positions + i * size, context);
  });
  index.offsets_ = {storage->data, offset_count};
  index.positions_ = {positions, tables * size};
  index.storage_ = std::move(storage);
  return index;
}

// Counting sort. The offsets first count, then run ahead of the positions that are filled in, and
// so end where the next bucket begins.
void MultiIndex::FillTable(size_t substring, uint32_t* offsets, uint32_t* positions,
                           const RunContext& context) const {
  constexpr size_t kRowsBetweenChecks = 1 << 20;
  const Field& field = fields_[substring];
  std::fill_n(offsets, table_size(), 0U);
  uint32_t* const counts = offsets + 1;
  const auto for_each_row = [&](const auto& body) {
    for (size_t i = 0; i < size_; ++i) {
      if (i % kRowsBetweenChecks == 0) context.ThrowIfStopped();
      body(static_cast<uint32_t>(i), Key(rows_.data() + i * bytes_, field));
    }
  };
  for_each_row([&](uint32_t, uint32_t key) { ++counts[key]; });
  uint32_t begin = 0;
  for (size_t key = 0; key + 1 < table_size(); ++key) begin += std::exchange(counts[key], begin);
  for_each_row([&](uint32_t row, uint32_t key) { positions[counts[key]++] = row; });
}

MultiIndexParts MultiIndex::parts() const {
  return {.substrings = substrings_,
          .key_bits = key_bits_,
          .offsets = offsets_,
          .positions = positions_};
}

MultiIndex MultiIndex::FromParts(int bits, std::span<const uint8_t> rows,
                                 const MultiIndexParts& parts, const RunContext& context) {
  const size_t size = CountCodes(bits, rows);
  if (parts.substrings < 1 || parts.substrings > bits || parts.key_bits < 0 ||
      parts.key_bits > std::min(bits / parts.substrings, kMaxKeyBits)) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("multi-index of {} substrings with keys of {} bits, of codes of {}",
                            parts.substrings, parts.key_bits, bits));
  }
  MultiIndex index(bits, rows, parts.substrings, parts.key_bits);
  const size_t tables = static_cast<size_t>(parts.substrings);
  if (parts.offsets.size() != tables * index.table_size() ||
      parts.positions.size() != tables * size) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("multi-index of {} codes: {} offsets and {} positions, expected {} and "
                            "{}",
                            size, parts.offsets.size(), parts.positions.size(),
                            tables * index.table_size(), tables * size));
  }
  index.offsets_ = parts.offsets;
  index.positions_ = parts.positions;
  context.ParallelFor(tables, 1, [&](size_t i, size_t /*end*/) { index.CheckTable(i); });
  return index;
}

void MultiIndex::CheckTable(size_t substring) const {
  const auto offsets = offsets_.subspan(substring * table_size(), table_size());
  const auto positions = positions_.subspan(substring * size_, size_);
  if (offsets.front() != 0 || offsets.back() != size_ || !std::ranges::is_sorted(offsets)) {
    ThrowCorrupt(substring, "offsets do not cover the codes in order");
  }
  for (size_t key = 0; key + 1 < offsets.size(); ++key) {
    for (uint32_t i = offsets[key]; i < offsets[key + 1]; ++i) {
      if (positions[i] >= size_) ThrowCorrupt(substring, "a position is out of range");
      if (i > offsets[key] && positions[i] <= positions[i - 1]) {
        ThrowCorrupt(substring, "positions under a key do not ascend");
      }
    }
  }
}

void MultiIndex::Verify(const RunContext& context) const {
  context.ParallelFor(static_cast<size_t>(substrings_), 1,
                      [&](size_t i, size_t /*end*/) { VerifyTable(i); });
}

// Positions under a key ascend, so none is there twice; when each is under its own key, the right
// number of them is all of them.
void MultiIndex::VerifyTable(size_t substring) const {
  const uint32_t* const offsets = offsets_.data() + substring * table_size();
  const uint32_t* const positions = positions_.data() + substring * size_;
  for (uint32_t key = 0; key <= key_mask_; ++key) {
    for (uint32_t i = offsets[key]; i < offsets[key + 1]; ++i) {
      if (Key(code(positions[i]), fields_[substring]) != key) {
        ThrowCorrupt(substring, "a code is under a wrong key");
      }
    }
  }
}

void MultiIndex::Search(std::span<const uint8_t> query, const TopK& top, Scratch& scratch,
                        CandidateSink accept) const {
  Run({.query = query.data(), .top = &top, .radius = 0, .first_position = 0, .accept = accept},
      scratch);
}

void MultiIndex::RangeSearch(std::span<const uint8_t> query, int radius, Scratch& scratch,
                             CandidateSink accept) const {
  Run({.query = query.data(),
       .top = nullptr,
       .radius = std::min(radius, bits_),
       .first_position = 0,
       .accept = accept},
      scratch);
}

void MultiIndex::FindPairs(int radius, const RunContext& context, PairSink emit) const {
  constexpr size_t kRowsAtOnce = 256;
  struct Partial {
    Scratch scratch;
    std::vector<CodePair> pairs;
  };
  const auto find = [&](Partial& partial, size_t begin, size_t end) {
    context.ThrowIfStopped();
    partial.pairs.clear();
    for (size_t i = begin; i < end; ++i) {
      const auto first = static_cast<uint32_t>(i);
      const size_t found_before = partial.pairs.size();
      const auto add = [&](uint32_t second, int32_t distance) {
        partial.pairs.push_back({.first = first, .second = second, .distance = distance});
      };
      Run({.query = code(first),
           .top = nullptr,
           .radius = std::min(radius, bits_),
           .first_position = first + 1,
           .accept = add},
          partial.scratch);
      std::sort(partial.pairs.begin() + static_cast<ptrdiff_t>(found_before), partial.pairs.end(),
                [](const CodePair& a, const CodePair& b) { return a.second < b.second; });
    }
  };
  context.pool().OrderedReduce(size_, kRowsAtOnce, Partial(), find, [&](const Partial& partial) {
    if (!partial.pairs.empty()) emit(partial.pairs);
  });
}

void MultiIndex::Run(const Request& request, Scratch& scratch) const {
  if (size_ == 0 || request.threshold() < 0) return;
  scratch.query_keys_.clear();
  for (const Field& field : fields_) scratch.query_keys_.push_back(Key(request.query, field));
  scratch.spent_ = 0;
  // The last step looks up the last key of the first substring: nothing is left behind it.
  const int last_step = substrings_ * key_bits_;
  int step = 0;
  while (step <= std::min(last_step, request.threshold())) {
    const int end = step + StepsAtOnce(step, request.threshold());
    if (ScanIsCheaper(request, step, end, scratch.spent_) || !Probe(request, step, end, scratch)) {
      ScanRows(request, step, scratch);
      return;
    }
    step = end;
  }
}

// Steps whose lookups are worth overlapping: of one radius, within the threshold, and few keys in
// all.
int MultiIndex::StepsAtOnce(int step, int32_t threshold) const {
  const int radius = step / substrings_;
  const int same_radius = (radius + 1) * substrings_ - step;
  const int useful = std::min(threshold, substrings_ * key_bits_) - step + 1;
  const int few = static_cast<int>(kBucketsAtOnce / probes_of_radius_[static_cast<size_t>(radius)]);
  return std::clamp(few, 1, std::min(same_radius, useful));
}

double MultiIndex::CandidateCost() const {
  return kCandidateCost + kCandidateByteCost * static_cast<double>(bytes_);
}

double MultiIndex::ScanCost() const {
  return static_cast<double>(size_) * (kScanCost + kScanByteCost * static_cast<double>(bytes_));
}

// Scanning once as much as a scan costs has been spent never costs more than twice the better of
// the two. Nearer to that point, the steps that today's threshold still asks for are counted too.
// Not earlier, because the threshold falls quickly while the search is young; a radius does not
// fall.
bool MultiIndex::ScanIsCheaper(const Request& request, int step, int end, double spent) const {
  const double per_probe = kProbeCost + CandidateCost() * static_cast<double>(size_) /
                                            static_cast<double>(size_t{1} << key_bits_);
  const auto step_cost = [&](int at) {
    return per_probe * probes_of_radius_[static_cast<size_t>(at / substrings_)];
  };
  const double scan = ScanCost();
  double cost = spent;
  for (int at = step; at < end; ++at) cost += step_cost(at);
  if (request.top != nullptr && cost < scan / 4) return false;
  const int last = std::min(request.threshold(), substrings_ * key_bits_);
  for (int at = end; at <= last && cost < scan; ++at) cost += step_cost(at);
  return cost >= scan;
}

// Looks up steps [step, end), which have one radius. False, before anything was shown, when the
// buckets turn out so full that scanning is cheaper.
bool MultiIndex::Probe(const Request& request, int step, int end, Scratch& scratch) const {
  const int radius = step / substrings_;
  const uint32_t mask_limit = uint32_t{1} << key_bits_;
  double probes_left = probes_of_radius_[static_cast<size_t>(radius)] * (end - step);
  bool shown = false;
  scratch.buckets_.clear();
  for (int at = step; at < end; ++at) {
    const auto substring = static_cast<size_t>(at % substrings_);
    const size_t table = substring * table_size();
    uint32_t mask = (uint32_t{1} << radius) - 1;
    do {
      const size_t slot = table + (scratch.query_keys_[substring] ^ mask);
      __builtin_prefetch(offsets_.data() + slot);
      scratch.buckets_.push_back(
          {.slot = slot, .substring = substring, .positions = nullptr, .size = 0, .step = at});
      --probes_left;
      if (scratch.buckets_.size() == kBucketsAtOnce || probes_left == 0) {
        const double cost = LocateBuckets(request.first_position, scratch);
        const auto located = static_cast<double>(scratch.buckets_.size());
        const double expected = cost * (1 + probes_left / located);
        if (!shown && scratch.spent_ + expected > ScanCost()) return false;
        VisitBuckets(request, scratch);
        scratch.spent_ += cost;
        scratch.buckets_.clear();
        shown = true;
      }
      mask = NextOfSameWeight(mask);
    } while (mask < mask_limit && mask != 0);
  }
  return true;
}

// Returns what it will cost to visit the buckets.
double MultiIndex::LocateBuckets(uint32_t first_position, Scratch& scratch) const {
  size_t candidates = 0;
  for (Scratch::Bucket& bucket : scratch.buckets_) {
    const uint32_t* const positions = positions_.data() + bucket.substring * size_;
    const uint32_t* begin = positions + offsets_[bucket.slot];
    const uint32_t* const end = positions + offsets_[bucket.slot + 1];
    __builtin_prefetch(begin);
    if (first_position != 0) begin = std::lower_bound(begin, end, first_position);
    bucket.positions = begin;
    bucket.size = static_cast<size_t>(end - begin);
    candidates += bucket.size;
  }
  return kProbeCost * static_cast<double>(scratch.buckets_.size()) +
         CandidateCost() * static_cast<double>(candidates);
}

void MultiIndex::VisitBuckets(const Request& request, Scratch& scratch) const {
  scratch.candidates_.resize(kCandidatesAtOnce + kCopyAtOnce);
  const uint32_t* const all_end = positions_.data() + positions_.size();
  size_t count = 0;
  scratch.runs_.clear();
  for (const Scratch::Bucket& bucket : scratch.buckets_) {
    const uint32_t* from = bucket.positions;
    size_t left = bucket.size;
    while (true) {
      const size_t taken = std::min(left, kCandidatesAtOnce - count);
      CopyPositions(from, taken, all_end, scratch.candidates_.data() + count);
      count += taken;
      scratch.runs_.push_back({.end = count, .step = bucket.step});
      left -= taken;
      if (left == 0) break;
      from += taken;
      Compare(request, count, scratch);
      scratch.runs_.clear();
      count = 0;
    }
  }
  Compare(request, count, scratch);
}

void MultiIndex::Compare(const Request& request, size_t count, Scratch& scratch) const {
  const uint32_t* const candidates = scratch.candidates_.data();
  for (size_t i = 0; i < count; ++i) __builtin_prefetch(code(candidates[i]));
  scratch.hits_.resize(std::max(kCompareAtOnce, kScanAtOnce));
  Comparison comparison = {.query = request.query,
                           .rows = rows_.data(),
                           .bytes = bytes_,
                           .threshold = 0,
                           .hits = scratch.hits_.data()};
  auto run = scratch.runs_.begin();
  for (size_t begin = 0; begin < count; begin += kCompareAtOnce) {
    comparison.threshold = request.threshold();
    const size_t found =
        kernels_->listed(comparison, candidates + begin, std::min(kCompareAtOnce, count - begin));
    for (size_t i = 0; i < found; ++i) {
      const size_t candidate = begin + scratch.hits_[i].position;
      const auto distance = static_cast<int32_t>(scratch.hits_[i].distance);
      const uint32_t position = candidates[candidate];
      if (distance > request.threshold()) continue;
      while (run->end <= candidate) ++run;
      if (SeenBefore(code(position), run->step, scratch)) continue;
      request.accept(position, distance);
    }
  }
}

// Whether an earlier step than this one found the code: its keys tell, without a list of what was
// visited.
bool MultiIndex::SeenBefore(const uint8_t* code, int step, const Scratch& scratch) const {
  for (int i = 0; i < substrings_; ++i) {
    const auto substring = static_cast<size_t>(i);
    const uint32_t difference = Key(code, fields_[substring]) ^ scratch.query_keys_[substring];
    if (substrings_ * std::popcount(difference) + i < step) return true;
  }
  return false;
}

// Shows what the steps before this one have not.
void MultiIndex::ScanRows(const Request& request, int step, Scratch& scratch) const {
  scratch.hits_.resize(std::max(kCompareAtOnce, kScanAtOnce));
  Comparison comparison = {.query = request.query,
                           .rows = nullptr,
                           .bytes = bytes_,
                           .threshold = 0,
                           .hits = scratch.hits_.data()};
  for (size_t begin = request.first_position; begin < size_; begin += kScanAtOnce) {
    comparison.rows = rows_.data() + begin * bytes_;
    comparison.threshold = request.threshold();
    const size_t found = kernels_->all(comparison, std::min(kScanAtOnce, size_ - begin));
    for (size_t i = 0; i < found; ++i) {
      const ScanHit& hit = scratch.hits_[i];
      const auto distance = static_cast<int32_t>(hit.distance);
      const auto position = static_cast<uint32_t>(begin + hit.position);
      if (distance > request.threshold() || SeenBefore(code(position), step, scratch)) continue;
      request.accept(position, distance);
    }
  }
}

}  // namespace bitpool
