#include "bitpool/index/code_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/index/segment_choice.h"
#include "bitpool/index/segment_scan.h"
#include "bitpool/index/split_search.h"

namespace bitpool {
namespace {

constexpr size_t kListedShare =
    32;  // a filter that lists fewer than 1/32 of the codes is looked up one by one

ScanScratch& ThreadScratch() {
  static thread_local ScanScratch scratch;
  return scratch;
}

}  // namespace

void IndexOptions::Validate() const { RequireBits(bits); }

CodeIndex::CodeIndex(const IndexOptions& options)
    : bits_(options.bits),
      kind_(options.kind),
      building_({.threads = options.threads}),
      now_(std::make_shared<Moment>()) {
  options.Validate();
}

Index CodeIndex::size() const { return Now()->size; }

std::shared_ptr<const CodeIndex::Moment> CodeIndex::Now() const {
  const std::lock_guard lock(publishing_);
  return now_;
}

void CodeIndex::Publish(Moment moment) {
  auto next = std::make_shared<const Moment>(std::move(moment));
  const std::lock_guard lock(publishing_);
  now_.swap(next);
}

void CodeIndex::Add(const BinaryCodes& codes, std::span<const int64_t> ids) {
  RequireQueries(codes);
  if (static_cast<size_t>(codes.size()) != ids.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} ids for {} codes", ids.size(), codes.size()));
  }
  if (ids.empty()) return;
  std::vector<size_t> order(ids.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!std::is_sorted(ids.begin(), ids.end())) {
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ids[a] < ids[b]; });
  }
  std::vector<int64_t> sorted_ids;
  sorted_ids.reserve(ids.size());
  for (const size_t i : order) sorted_ids.push_back(ids[i]);
  if (sorted_ids.front() < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("id {}: expected a number from 0", sorted_ids.front()));
  }
  const auto twice = std::adjacent_find(sorted_ids.begin(), sorted_ids.end());
  if (twice != sorted_ids.end()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("id {} appears twice", *twice));
  }
  std::vector<uint8_t> sorted_rows;
  sorted_rows.reserve(codes.rows().size());
  for (const size_t i : order) {
    const auto code = codes.code(static_cast<Index>(i));
    sorted_rows.insert(sorted_rows.end(), code.begin(), code.end());
  }

  const std::lock_guard lock(changing_);
  for (const int64_t id : sorted_ids) {
    if (Contains(id))
      throw Error(ErrorCode::kInvalidArgument, fmt::format("id {} is in the index already", id));
  }
  Moment next = *Now();
  ++next.version;
  next.size += static_cast<int64_t>(sorted_ids.size());
  AppendSegment(next, MakeSegment(sorted_rows, std::move(sorted_ids)));
  Publish(std::move(next));
}

bool CodeIndex::Remove(int64_t id) {
  const std::lock_guard lock(changing_);
  Moment next = *Now();
  ++next.version;
  if (!MarkRemoved(next, id, next.version)) return false;
  --next.size;
  DropMostlyRemoved(next);
  Publish(std::move(next));
  return true;
}

void CodeIndex::Replace(int64_t id, std::span<const uint8_t> code) {
  if (id < 0)
    throw Error(ErrorCode::kInvalidArgument, fmt::format("id {}: expected a number from 0", id));
  RequireQueries(BinaryCodes(bits_, {code.begin(), code.end()}));
  const std::lock_guard lock(changing_);
  Moment next = *Now();
  ++next.version;
  if (!MarkRemoved(next, id, next.version)) ++next.size;
  AppendSegment(next, MakeSegment(code, {id}));
  DropMostlyRemoved(next);
  Publish(std::move(next));
}

int64_t CodeIndex::max_id() const {
  int64_t largest = -1;
  for (const Part& part : Now()->parts) {
    if (part.segment->size() == 0) continue;
    largest = std::max(largest, part.segment->id(part.segment->size() - 1));
  }
  return largest;
}

bool CodeIndex::Contains(int64_t id) const {
  const std::shared_ptr<const Moment> moment = Now();
  return std::any_of(moment->parts.begin(), moment->parts.end(), [&](const Part& part) {
    const std::optional<size_t> slot = part.segment->FindSlot(id);
    return slot && !part.tombstones->Removed(*slot, moment->version);
  });
}

bool CodeIndex::MarkRemoved(const Moment& moment, int64_t id, uint64_t version) const {
  for (const Part& part : moment.parts) {
    const std::optional<size_t> slot = part.segment->FindSlot(id);
    if (!slot || part.tombstones->Removed(*slot, version)) continue;
    part.tombstones->Remove(*slot, version);
    return true;
  }
  return false;
}

// Merges with the segments before it that are not much larger. Each code is then copied a number of
// times that grows with the logarithm of the codes, and so does the number of segments.
void CodeIndex::AppendSegment(Moment& moment,
                              const std::shared_ptr<const CodeSegment>& segment) const {
  moment.parts.push_back(
      {.segment = segment, .tombstones = std::make_shared<Tombstones>(segment->size())});
  size_t first = moment.parts.size() - 1;
  size_t merged = moment.parts.back().alive();
  while (first > 0 && moment.parts[first - 1].alive() <= 2 * merged)
    merged += moment.parts[--first].alive();
  if (first + 1 == moment.parts.size()) return;
  auto together = MergeParts(std::span(moment.parts).subspan(first), moment.version);
  moment.parts.resize(first);
  moment.parts.push_back(
      {.segment = together, .tombstones = std::make_shared<Tombstones>(together->size())});
}

void CodeIndex::DropMostlyRemoved(Moment& moment) const {
  for (Part& part : moment.parts) {
    if (part.tombstones->count() * 2 <= part.segment->size()) continue;
    auto rest = MergeParts({&part, 1}, moment.version);
    part = {.segment = rest, .tombstones = std::make_shared<Tombstones>(rest->size())};
  }
  std::erase_if(moment.parts, [](const Part& part) { return part.segment->size() == 0; });
}

std::shared_ptr<const CodeSegment> CodeIndex::MergeParts(std::span<const Part> parts,
                                                         uint64_t version) const {
  struct Slot {
    int64_t id;
    uint32_t part;
    uint32_t slot;
  };
  std::vector<Slot> slots;
  for (size_t p = 0; p < parts.size(); ++p) {
    for (size_t slot = 0; slot < parts[p].segment->size(); ++slot) {
      if (parts[p].tombstones->Removed(slot, version)) continue;
      slots.push_back({.id = parts[p].segment->id(slot),
                       .part = static_cast<uint32_t>(p),
                       .slot = static_cast<uint32_t>(slot)});
    }
  }
  const auto by_id = [](const Slot& a, const Slot& b) { return a.id < b.id; };
  if (!std::is_sorted(slots.begin(), slots.end(), by_id))
    std::sort(slots.begin(), slots.end(), by_id);
  const size_t bytes = BytesPerCode(bits_);
  std::vector<uint8_t> rows(slots.size() * bytes);
  std::vector<int64_t> ids;
  ids.reserve(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    parts[slots[i].part].segment->CopyCode(slots[i].slot, rows.data() + i * bytes);
    ids.push_back(slots[i].id);
  }
  return MakeSegment(rows, std::move(ids));
}

void CodeIndex::RequireQueries(const BinaryCodes& queries) const {
  if (queries.bits() != bits_) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("codes of {} bits, but the index has {}", queries.bits(), bits_));
  }
}

SearchResult CodeIndex::Search(const BinaryCodes& queries, int64_t k, const RunContext& context,
                               const IdFilter* filter) const {
  RequireQueries(queries);
  RequireCount(k);
  if (check_) check_->Touch();
  const auto query_count = static_cast<size_t>(queries.size());
  const std::shared_ptr<const Moment> moment = Now();
  SearchResult result;
  result.k = k;
  result.neighbours.resize(query_count * static_cast<size_t>(k));
  if (query_count == 0 || k == 0) return result;
  const std::span<Neighbour> answers = result.neighbours;
  if (const std::optional<ListedCodes> listed = FindListed(*moment, filter)) {
    AnswerFromList(
        query_count, context,
        [&](size_t query, std::vector<Neighbour>& all) {
          for (size_t i = 0; i < listed->ids.size(); ++i) {
            const auto code = listed->codes.code(static_cast<Index>(i));
            all.push_back(
                {.id = listed->ids[i],
                 .distance = HammingDistance(queries.code(static_cast<Index>(query)), code)});
          }
        },
        answers);
    return result;
  }

  const ScanQueries prepared(queries.rows(), queries.bytes_per_code());
  std::vector<size_t> piece_counts;
  for (const Part& part : moment->parts) piece_counts.push_back(PieceCount(*part.segment));
  const auto find_best = [&](std::span<const Piece> pieces, size_t first, size_t count,
                             const auto& emit) {
    ScanScratch& scratch = ThreadScratch();
    if (scratch.tops.size() < count) scratch.tops.resize(count);
    const std::span<TopK> tops = std::span(scratch.tops).first(count);
    for (TopK& top : tops) top.Reset(k, bits_, true);
    IdOrder order;
    for (const Piece& piece : pieces) {
      const Part& part = moment->parts[piece.part];
      const bool ascending = order.Continues(*part.segment, piece);
      for (TopK& top : tops) top.set_ascending(ascending);
      ScanForBest(part.Visible(moment->version, filter), piece.begin, piece.end, prepared, first,
                  tops, scratch);
    }
    static thread_local std::vector<Neighbour> best;
    for (size_t i = 0; i < count; ++i) {
      tops[i].Finish(best);
      emit(i, best);
    }
  };
  SplitSearch(piece_counts, query_count, context, find_best, answers);
  return result;
}

void CodeIndex::RequireCount(int64_t k) {
  if (k < 0)
    throw Error(ErrorCode::kInvalidArgument, fmt::format("k = {}: expected a number from 0", k));
}

// With a filter that names few ids, those are looked up instead of scanning everything for them.
std::optional<CodeIndex::ListedCodes> CodeIndex::FindListed(const Moment& moment,
                                                            const IdFilter* filter) const {
  const std::optional<std::span<const int64_t>> listed =
      filter != nullptr ? filter->ids() : std::nullopt;
  if (!listed || listed->size() * kListedShare > static_cast<size_t>(moment.size))
    return std::nullopt;
  ListedCodes found = {.codes = BinaryCodes(bits_), .ids = {}};
  std::vector<uint8_t> code(BytesPerCode(bits_));
  for (const int64_t id : *listed) {
    for (const Part& part : moment.parts) {
      const std::optional<size_t> slot = part.segment->FindSlot(id);
      if (!slot || part.tombstones->Removed(*slot, moment.version)) continue;
      part.segment->CopyCode(*slot, code.data());
      found.codes.Append(code);
      found.ids.push_back(id);
    }
  }
  return found;
}

std::vector<std::vector<Neighbour>> CodeIndex::RangeSearch(const BinaryCodes& queries, int radius,
                                                           const RunContext& context,
                                                           const IdFilter* filter) const {
  RequireQueries(queries);
  if (check_) check_->Touch();
  if (radius < 0)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("radius {}: expected a number from 0", radius));
  const std::shared_ptr<const Moment> moment = Now();
  const auto query_count = static_cast<size_t>(queries.size());
  const ScanQueries prepared(queries.rows(), queries.bytes_per_code());
  std::vector<size_t> block_counts;
  for (const Part& part : moment->parts) block_counts.push_back(PieceCount(*part.segment));
  const auto threads = static_cast<size_t>(context.threads());
  const auto cut = CutIntoSlabs(
      block_counts,
      threads == 1 ? 1 : std::max<size_t>(1, 4 * threads / std::max<size_t>(1, query_count)));
  std::vector<std::vector<Neighbour>> found(query_count * cut.size());
  context.ParallelFor(found.size(), 1, [&](size_t task, size_t) {
    for (const Piece& piece : cut[task % cut.size()]) {
      const Part& part = moment->parts[piece.part];
      ScanWithinRadius(part.Visible(moment->version, filter), piece.begin, piece.end, prepared,
                       task / cut.size(), radius, ThreadScratch(), found[task]);
    }
  });
  std::vector<std::vector<Neighbour>> results(query_count);
  for (size_t query = 0; query < query_count; ++query) {
    std::vector<Neighbour>& all = results[query];
    for (size_t slab = 0; slab < cut.size(); ++slab) {
      const std::vector<Neighbour>& some = found[query * cut.size() + slab];
      all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
  }
  return results;
}

std::shared_ptr<const CodeSegment> CodeIndex::Compacted() const {
  const std::shared_ptr<const Moment> moment = Now();
  if (moment->parts.size() == 1 && moment->parts[0].alive() == moment->parts[0].segment->size()) {
    return moment->parts[0].segment;
  }
  return MergeParts(moment->parts, moment->version);
}

std::unique_ptr<CodeIndex> CodeIndex::FromSegment(IndexKind kind,
                                                  std::shared_ptr<const CodeSegment> segment,
                                                  std::shared_ptr<BackgroundCheck> check) {
  auto index = std::make_unique<CodeIndex>(IndexOptions{.bits = segment->bits(), .kind = kind});
  index->check_ = std::move(check);
  Moment moment;
  moment.size = static_cast<int64_t>(segment->size());
  if (segment->size() > 0) {
    const size_t slots = segment->size();
    moment.parts.push_back(
        {.segment = std::move(segment), .tombstones = std::make_shared<Tombstones>(slots)});
  }
  index->Publish(std::move(moment));
  return index;
}

std::shared_ptr<const CodeSegment> CodeIndex::MakeSegment(std::span<const uint8_t> rows,
                                                          std::vector<int64_t> ids) const {
  return ChooseSegment(kind_, bits_, rows, std::move(ids), building_);
}

size_t CodeIndex::table_bytes() const {
  const std::shared_ptr<const Moment> moment = Now();
  size_t bytes = 0;
  for (const Part& part : moment->parts) {
    if (part.segment->tables() != nullptr) bytes += part.segment->tables()->memory_bytes();
  }
  return bytes;
}

std::unique_ptr<CodeIndex> MakeIndex(const BinaryCodes& codes, IndexKind kind,
                                     const RunContext& context) {
  std::vector<int64_t> ids(static_cast<size_t>(codes.size()));
  std::iota(ids.begin(), ids.end(), int64_t{0});
  return CodeIndex::FromSegment(
      kind, ChooseSegment(kind, codes.bits(), codes.rows(), std::move(ids), context));
}

}  // namespace bitpool
