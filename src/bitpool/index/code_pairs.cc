#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "bitpool/base/error.h"
#include "bitpool/index/index_snapshot.h"
#include "bitpool/index/whole_segments.h"

namespace bitpool {
namespace {

constexpr size_t kEmitPairs = size_t{1} << 14;

// A segment in tables, whatever layout it has.
SegmentTables TablesOf(const CodeSegment& segment, const RunContext& context) {
  const size_t bytes = BytesPerCode(segment.bits());
  std::vector<uint8_t> rows(segment.size() * bytes);
  for (size_t slot = 0; slot < segment.size(); ++slot) {
    segment.CopyCode(slot, rows.data() + slot * bytes);
  }
  return SegmentTables::Build(segment.bits(), rows, context);
}

void RequireRadius(int radius) {
  if (radius < 0) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("radius {}: expected 0 or more", radius));
  }
}

std::vector<uint32_t> SlotsOf(const SegmentTables& tables, uint32_t row) {
  std::vector<uint32_t> slots;
  tables.ForEachSlot(row, [&](uint32_t slot) {
    slots.push_back(slot);
    return true;
  });
  return slots;
}

// Sets that are joined step by step; the root of each is its smallest member.
class JoinedSets {
 public:
  explicit JoinedSets(size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), uint32_t{0});
  }

  uint32_t Root(uint32_t item) {
    while (parent_[item] != item) {
      parent_[item] = parent_[parent_[item]];
      item = parent_[item];
    }
    return item;
  }
  void Join(uint32_t a, uint32_t b) {
    a = Root(a);
    b = Root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<uint32_t> parent_;
};

}  // namespace

void IndexSnapshot::FindPairs(int radius, const RunContext& context, IdPairSink emit) const {
  RequireRadius(radius);
  const std::shared_ptr<const CodeSegment> segment = Compacted();
  const SegmentTables tables = TablesOf(*segment, context);
  std::vector<IdPair> pairs;
  const auto add = [&](uint32_t a, uint32_t b, int32_t distance) {
    pairs.push_back({.first = segment->id(std::min(a, b)),
                     .second = segment->id(std::max(a, b)),
                     .distance = distance});
    if (pairs.size() < kEmitPairs) return;
    emit(pairs);
    pairs.clear();
  };
  for (uint32_t row = 0; row < tables.index().size(); ++row) {  // equal codes
    const std::vector<uint32_t> slots = SlotsOf(tables, row);
    for (size_t i = 0; i < slots.size(); ++i) {
      for (size_t j = i + 1; j < slots.size(); ++j) add(slots[i], slots[j], 0);
    }
  }
  tables.index().FindPairs(radius, context, [&](std::span<const CodePair> found) {
    for (const CodePair& pair : found) {
      for (const uint32_t a : SlotsOf(tables, pair.first)) {
        for (const uint32_t b : SlotsOf(tables, pair.second)) add(a, b, pair.distance);
      }
    }
  });
  RequireWhole(*segment);
  if (!pairs.empty()) emit(pairs);
}

std::vector<std::vector<int64_t>> IndexSnapshot::FindGroups(int radius,
                                                            const RunContext& context) const {
  RequireRadius(radius);
  const std::shared_ptr<const CodeSegment> segment = Compacted();
  const SegmentTables tables = TablesOf(*segment, context);
  JoinedSets sets(tables.index().size());
  tables.index().FindPairs(radius, context, [&](std::span<const CodePair> found) {
    for (const CodePair& pair : found) sets.Join(pair.first, pair.second);
  });
  std::vector<std::vector<int64_t>> members(tables.index().size());
  for (uint32_t row = 0; row < members.size(); ++row) {
    tables.ForEachSlot(row, [&](uint32_t slot) {
      members[sets.Root(row)].push_back(segment->id(slot));
      return true;
    });
  }
  RequireWhole(*segment);
  std::erase_if(members, [](const std::vector<int64_t>& group) { return group.size() < 2; });
  for (std::vector<int64_t>& group : members) std::sort(group.begin(), group.end());
  std::sort(members.begin(), members.end());
  return members;
}

}  // namespace bitpool
