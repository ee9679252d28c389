#include <algorithm>
#include <bit>
#include <cstring>

#include "bitpool/codes/row_scan.h"
#include "bitpool/index/multi_index.h"

namespace bitpool {
namespace {

// Buckets whose memory is prefetched before the first of them is looked at.
constexpr int64_t kBucketsAtOnce = 128;
// Candidates whose codes are prefetched before the first of them is compared.
constexpr size_t kCandidatesAtOnce = 512;
// Candidates compared under one threshold.
constexpr size_t kCompareAtOnce = 32;
constexpr size_t kScanAtOnce = 512;
constexpr size_t kCopyAtOnce = 8;

// Copies positions in groups, the last of which may reach beyond the end: most buckets fit one
// group, and a loop over so few would mispredict its end. `to` has room for another group;
// `all_end` is where reading must stop.
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

// Without a library call, which std::popcount is on machines that might not count bits.
int CountBits(uint32_t bits) {
  bits -= bits >> 1 & 0x55555555U;
  bits = (bits & 0x33333333U) + (bits >> 2 & 0x33333333U);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0fU;
  return static_cast<int>(bits * 0x01010101U >> 24);
}

// The next larger number with as many bits set (Gosper); 0 follows 0.
uint32_t NextOfSameWeight(uint32_t mask) {
  if (mask == 0) return 0;
  const uint32_t ripple = mask + (mask & (0 - mask));
  return ripple | ((mask ^ ripple) >> 2) >> std::countr_zero(mask);
}

}  // namespace

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
  scratch.spent_ = 0;
  if (size_ == 0 || request.threshold() < 0) return;
  scratch.query_keys_.clear();
  for (const Field& field : fields_) scratch.query_keys_.push_back(Key(request.query, field));
  // The last step looks up the last key of the first substring: nothing is left after it.
  const int last_step = substrings_ * key_bits_;
  int step = 0;
  while (step <= std::min(last_step, request.threshold())) {
    const int end = step + StepsAtOnce(step, request.threshold());
    if (ScanIsCheaper(request, step, end, scratch.spent_) || !Probe(request, step, end, scratch)) {
      ScanTheRest(request, step, scratch);
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

// Scanning as soon as lookups have cost as much as a scan never costs more than twice the better of
// the two. Nearer to that point, the steps that the present threshold still requires are
// counted too, but not earlier: the threshold falls quickly while the search is young. (A radius
// does not fall.)
bool MultiIndex::ScanIsCheaper(const Request& request, int step, int end, SearchCost spent) const {
  const SearchCost per_probe =
      kProbeCost + (CandidateCost(bytes_) * static_cast<SearchCost>(size_) >> key_bits_);
  const auto step_cost = [&](int at) {
    return per_probe * probes_of_radius_[static_cast<size_t>(at / substrings_)];
  };
  const SearchCost scan = RowScanCost(size_, bytes_);
  SearchCost cost = spent;
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
  int64_t probes_left = probes_of_radius_[static_cast<size_t>(radius)] * (end - step);
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
      if (scratch.buckets_.size() == size_t{kBucketsAtOnce} || probes_left == 0) {
        const SearchCost cost = LocateBuckets(request.first_position, scratch);
        // Each of the probes left is expected to cost as much as each of these.
        const auto located = static_cast<int64_t>(scratch.buckets_.size());
        const SearchCost left = RowScanCost(size_, bytes_) - scratch.spent_ - cost;
        if (!shown && (left < 0 || probes_left > left * located / cost)) return false;
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
SearchCost MultiIndex::LocateBuckets(uint32_t first_position, Scratch& scratch) const {
  size_t candidates = 0;
  for (Scratch::Bucket& bucket : scratch.buckets_) {
    const uint32_t* const positions = positions_.data() + bucket.substring * size_;
    const uint32_t first = offsets_[bucket.slot];
    const uint32_t* begin = positions + first;
    // Offsets ascend, but those of a file that is being cut off turn to zeros.
    const uint32_t* const end = positions + std::max(first, offsets_[bucket.slot + 1]);
    __builtin_prefetch(begin);
    if (first_position != 0) begin = std::lower_bound(begin, end, first_position);
    bucket.positions = begin;
    bucket.size = static_cast<size_t>(end - begin);
    candidates += bucket.size;
  }
  return kProbeCost * static_cast<SearchCost>(scratch.buckets_.size()) +
         CandidateCost(bytes_) * static_cast<SearchCost>(candidates);
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
  RowScan scan = {.query = request.query,
                  .rows = rows_.data(),
                  .bytes_per_code = bytes_,
                  .threshold = 0,
                  .hits = scratch.hits_.data()};
  auto run = scratch.runs_.begin();
  for (size_t begin = 0; begin < count; begin += kCompareAtOnce) {
    scan.threshold = request.threshold();
    const size_t found =
        ScanListedRows(scan, candidates + begin, std::min(kCompareAtOnce, count - begin));
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
    if (substrings_ * CountBits(difference) + i < step) return true;
  }
  return false;
}

// Shows what the steps before this one have not.
void MultiIndex::ScanTheRest(const Request& request, int step, Scratch& scratch) const {
  scratch.spent_ += RowScanCost(size_ - std::min<size_t>(size_, request.first_position), bytes_);
  scratch.hits_.resize(std::max(kCompareAtOnce, kScanAtOnce));
  RowScan scan = {.query = request.query,
                  .rows = nullptr,
                  .bytes_per_code = bytes_,
                  .threshold = 0,
                  .hits = scratch.hits_.data()};
  for (size_t begin = request.first_position; begin < size_; begin += kScanAtOnce) {
    scan.rows = rows_.data() + begin * bytes_;
    scan.threshold = request.threshold();
    const size_t found = bitpool::ScanRows(scan, std::min(kScanAtOnce, size_ - begin));
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
