#include "bitpool/index/index_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/index/segment_choice.h"
#include "bitpool/index/segment_scan.h"
#include "bitpool/index/split_search.h"
#include "bitpool/index/whole_segments.h"

namespace bitpool {
namespace {

ScanScratch& ThreadScratch() {
  static thread_local ScanScratch scratch;
  return scratch;
}

}  // namespace

IndexSnapshot::Place IndexSnapshot::Content::Find(int64_t id) const {
  for (const Part& part : parts) {
    const std::optional<size_t> slot = part.segment->FindSlot(id);
    if (slot && !part.tombstones->Removed(*slot, version)) return {.part = &part, .slot = *slot};
  }
  return {};
}

bool IndexSnapshot::CopyCode(int64_t id, std::span<uint8_t> code) const {
  const Place place = Find(id);
  if (place.part == nullptr) return false;
  place.part->segment->CopyCode(place.slot, code.data());
  RequireWhole(*place.part->segment);
  return true;
}

IndexSnapshot::MergedRows IndexSnapshot::Merge(int bits, std::span<const Part> parts,
                                               uint64_t version) {
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
  const size_t bytes = BytesPerCode(bits);
  MergedRows merged;
  merged.rows.resize(slots.size() * bytes);
  merged.ids.reserve(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    parts[slots[i].part].segment->CopyCode(slots[i].slot, merged.rows.data() + i * bytes);
    merged.ids.push_back(slots[i].id);
  }
  for (const Part& part : parts) RequireWhole(*part.segment);
  return merged;
}

void IndexSnapshot::RequireQueries(const BinaryCodes& queries) const {
  if (queries.bits() != bits_) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("codes of {} bits, but the index has {}", queries.bits(), bits_));
  }
}

SearchResult IndexSnapshot::Search(const BinaryCodes& queries, int64_t k,
                                   const RunContext& context) const {
  RequireQueries(queries);
  const auto query_count = static_cast<size_t>(queries.size());
  auto result = MakeRoomForAnswers<Neighbour>(query_count, k);
  if (check_) check_->Touch();
  if (query_count == 0 || k == 0) return result;
  const int64_t there = std::min<int64_t>(k, std::max<int64_t>(1, content_->size));
  const std::span<Neighbour> answers = result.neighbours;
  const ScanQueries prepared(queries.rows(), queries.bytes_per_code());
  std::vector<size_t> piece_counts;
  for (const Part& part : content_->parts) piece_counts.push_back(PieceCount(*part.segment));
  const auto find_best = [&](std::span<const Piece> pieces, size_t first, size_t count,
                             const auto& emit) {
    ScanScratch& scratch = ThreadScratch();
    if (scratch.tops.size() < count) scratch.tops.resize(count);
    const std::span<TopK> tops = std::span(scratch.tops).first(count);
    for (TopK& top : tops) top.Reset(there, bits_, true);
    IdOrder order;
    for (const Piece& piece : pieces) {
      const Part& part = content_->parts[piece.part];
      const bool ascending = order.Continues(*part.segment, piece);
      for (TopK& top : tops) top.set_ascending(ascending);
      ScanForBest(part.Visible(content_->version), piece.begin, piece.end, prepared, first, tops,
                  scratch);
    }
    static thread_local std::vector<Neighbour> best;
    for (size_t i = 0; i < count; ++i) {
      tops[i].Finish(best);
      emit(i, best);
    }
  };
  SplitSearch(piece_counts, query_count, context, find_best, answers);
  for (const Part& part : content_->parts) RequireWhole(*part.segment);
  return result;
}

std::vector<std::vector<Neighbour>> IndexSnapshot::RangeSearch(const BinaryCodes& queries,
                                                               int radius,
                                                               const RunContext& context) const {
  RequireQueries(queries);
  if (check_) check_->Touch();
  if (radius < 0)
    throw Error(ErrorCode::kInvalidArgument, fmt::format("radius {}: expected 0 or more", radius));
  const auto query_count = static_cast<size_t>(queries.size());
  const ScanQueries prepared(queries.rows(), queries.bytes_per_code());
  std::vector<size_t> block_counts;
  for (const Part& part : content_->parts) block_counts.push_back(PieceCount(*part.segment));
  const auto threads = static_cast<size_t>(context.threads());
  const auto cut = CutIntoSlabs(
      block_counts,
      threads == 1 ? 1 : std::max<size_t>(1, 4 * threads / std::max<size_t>(1, query_count)));
  std::vector<std::vector<Neighbour>> found(query_count * cut.size());
  context.ParallelFor(found.size(), 1, [&](size_t task, size_t) {
    for (const Piece& piece : cut[task % cut.size()]) {
      const Part& part = content_->parts[piece.part];
      ScanWithinRadius(part.Visible(content_->version), piece.begin, piece.end, prepared,
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
  for (const Part& part : content_->parts) RequireWhole(*part.segment);
  return results;
}

std::shared_ptr<const CodeSegment> IndexSnapshot::Compacted() const {
  const std::vector<Part>& parts = content_->parts;
  if (parts.size() == 1 && parts[0].alive() == parts[0].segment->size()) return parts[0].segment;
  MergedRows merged = Merge(bits_, parts, content_->version);
  return ChooseSegment(kind_, bits_, merged.rows, std::move(merged.ids), RunContext());
}

size_t IndexSnapshot::table_bytes() const {
  size_t bytes = 0;
  for (const Part& part : content_->parts) {
    if (part.segment->tables() != nullptr) bytes += part.segment->tables()->memory_bytes();
  }
  return bytes;
}

}  // namespace bitpool
