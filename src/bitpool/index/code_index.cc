#include "bitpool/index/code_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/index/segment_choice.h"

namespace bitpool {
namespace {

// Codes and their ids in the order of the ids.
struct SortedCodes {
  std::vector<uint8_t> rows;
  std::vector<int64_t> ids;
};

void RequireId(int64_t id) {
  if (id >= 0 && id <= kMaxId) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("id {}: expected a number from 0 to {}", id, kMaxId));
}

SortedCodes SortById(const BinaryCodes& codes, std::span<const int64_t> ids) {
  if (static_cast<size_t>(codes.size()) != ids.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} ids for {} codes", ids.size(), codes.size()));
  }
  std::vector<size_t> order(ids.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!std::ranges::is_sorted(ids)) {
    std::ranges::sort(order, {}, [&](size_t i) { return ids[i]; });
  }
  SortedCodes sorted;
  sorted.ids.reserve(ids.size());
  sorted.rows.reserve(codes.rows().size());
  for (const size_t i : order) {
    sorted.ids.push_back(ids[i]);
    const auto code = codes.code(static_cast<Index>(i));
    sorted.rows.insert(sorted.rows.end(), code.begin(), code.end());
  }
  if (!sorted.ids.empty()) {
    RequireId(sorted.ids.front());
    RequireId(sorted.ids.back());
  }
  const auto twice = std::ranges::adjacent_find(sorted.ids);
  if (twice != sorted.ids.end()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("id {} appears twice", *twice));
  }
  return sorted;
}

// Removals that are taken back unless the change they belong to is published: the next one has the
// same version, and would bring them without the codes that were to take their place.
class Removals {
 public:
  Removals(size_t most, uint64_t version) : version_(version) { slots_.reserve(most); }
  ~Removals() {
    for (const auto& [tombstones, slot] : slots_) tombstones->Restore(slot);
  }
  Removals(const Removals&) = delete;
  Removals& operator=(const Removals&) = delete;

  void Add(const std::shared_ptr<Tombstones>& tombstones, size_t slot) {
    tombstones->Remove(slot, version_);
    slots_.emplace_back(tombstones, slot);  // there is room
  }
  size_t count() const { return slots_.size(); }
  void Keep() { slots_.clear(); }

 private:
  uint64_t version_;
  std::vector<std::pair<std::shared_ptr<Tombstones>, size_t>> slots_;
};

}  // namespace

std::vector<int64_t> CountIds(int64_t first, Index count) {
  if (count > kMaxId - first + 1) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} codes: there are only {} ids left, counted up from the largest that "
                    "was ever used; give ids of your own",
                    count, kMaxId - first + 1));
  }
  std::vector<int64_t> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

void IndexOptions::Validate() const { RequireBits(bits); }

CodeIndex::CodeIndex(const IndexOptions& options)
    : bits_(options.bits),
      kind_(options.kind),
      building_({.threads = options.threads}),
      now_(std::make_shared<Content>()) {
  options.Validate();
}

int64_t CodeIndex::max_id() const {
  int64_t largest = -1;
  for (const Part& part : Now()->parts) {
    if (part.segment->size() > 0) largest = std::max(largest, part.segment->last_id());
  }
  return largest;
}

IndexSnapshot CodeIndex::Snapshot() const { return {bits_, kind_, Now(), check_}; }

std::shared_ptr<const CodeIndex::Content> CodeIndex::Now() const {
  const std::lock_guard lock(publishing_);
  return now_;
}

void CodeIndex::Publish(Content content) {
  auto next = std::make_shared<const Content>(std::move(content));
  const std::lock_guard lock(publishing_);
  now_.swap(next);
}

size_t CodeIndex::Change(std::span<const int64_t> removed, const BinaryCodes& added,
                         std::span<const int64_t> added_ids) {
  if (added.bits() != bits_) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("codes of {} bits, but the index has {}", added.bits(), bits_));
  }
  SortedCodes sorted = SortById(added, added_ids);
  std::vector<int64_t> going(removed.begin(), removed.end());
  std::ranges::sort(going);

  const std::lock_guard lock(changing_);
  Content next = *Now();
  for (const int64_t id : sorted.ids) {
    if (next.Find(id).part != nullptr && !std::ranges::binary_search(going, id)) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("id {} is in the index already", id));
    }
  }
  std::shared_ptr<const CodeSegment> segment;
  if (!sorted.ids.empty()) segment = MakeSegment(sorted.rows, std::move(sorted.ids));
  ++next.version;
  Removals removals(going.size(), next.version);
  for (const int64_t id : going) {
    const IndexSnapshot::Place place = next.Find(id);
    if (place.part != nullptr) removals.Add(place.part->tombstones, place.slot);
  }
  const size_t count = removals.count();
  next.size -= static_cast<int64_t>(count);
  if (segment != nullptr) {
    next.size += static_cast<int64_t>(segment->size());
    AppendSegment(next, segment);
  }
  if (count > 0) DropMostlyRemoved(next);
  if (count > 0 || segment != nullptr) Publish(std::move(next));
  removals.Keep();
  return count;
}

// Merges with the segments before it that are not much larger. Each code is then copied a number of
// times that grows with the logarithm of the number of codes, and so does the number of segments.
void CodeIndex::AppendSegment(Content& content,
                              const std::shared_ptr<const CodeSegment>& segment) const {
  content.parts.push_back(
      {.segment = segment, .tombstones = std::make_shared<Tombstones>(segment->size())});
  size_t first = content.parts.size() - 1;
  size_t merged = content.parts.back().alive();
  while (first > 0 && content.parts[first - 1].alive() <= 2 * merged)
    merged += content.parts[--first].alive();
  if (first + 1 == content.parts.size()) return;
  auto together = MergeParts(std::span(content.parts).subspan(first), content.version);
  content.parts.resize(first);
  content.parts.push_back(
      {.segment = together, .tombstones = std::make_shared<Tombstones>(together->size())});
}

void CodeIndex::DropMostlyRemoved(Content& content) const {
  for (Part& part : content.parts) {
    if (part.tombstones->count() * 2 <= part.segment->size()) continue;
    auto rest = MergeParts({&part, 1}, content.version);
    part = {.segment = rest, .tombstones = std::make_shared<Tombstones>(rest->size())};
  }
  std::erase_if(content.parts, [](const Part& part) { return part.segment->size() == 0; });
}

std::shared_ptr<const CodeSegment> CodeIndex::MergeParts(std::span<const Part> parts,
                                                         uint64_t version) const {
  IndexSnapshot::MergedRows merged = IndexSnapshot::Merge(bits_, parts, version);
  return MakeSegment(merged.rows, std::move(merged.ids));
}

std::unique_ptr<CodeIndex> CodeIndex::FromSegment(IndexKind kind,
                                                  std::shared_ptr<const CodeSegment> segment,
                                                  std::shared_ptr<BackgroundCheck> check) {
  auto index = std::make_unique<CodeIndex>(IndexOptions{.bits = segment->bits(), .kind = kind});
  index->check_ = std::move(check);
  Content content;
  content.size = static_cast<int64_t>(segment->size());
  if (segment->size() > 0) {
    const size_t slots = segment->size();
    content.parts.push_back(
        {.segment = std::move(segment), .tombstones = std::make_shared<Tombstones>(slots)});
  }
  index->Publish(std::move(content));
  return index;
}

std::shared_ptr<const CodeSegment> CodeIndex::MakeSegment(std::span<const uint8_t> rows,
                                                          std::vector<int64_t> ids) const {
  return ChooseSegment(kind_, bits_, rows, std::move(ids), building_);
}

std::unique_ptr<CodeIndex> MakeIndex(const BinaryCodes& codes, IndexKind kind,
                                     const RunContext& context) {
  std::vector<int64_t> ids(static_cast<size_t>(codes.size()));
  std::iota(ids.begin(), ids.end(), int64_t{0});
  return CodeIndex::FromSegment(
      kind, ChooseSegment(kind, codes.bits(), codes.rows(), std::move(ids), context));
}

}  // namespace bitpool
