#include "bitpool/index/split_search.h"

#include <numeric>

namespace bitpool {
namespace {

constexpr size_t kMinSlabPieces = 1 << 10;  // a query is not split into runs smaller than this

}  // namespace

std::vector<std::vector<Piece>> CutIntoSlabs(std::span<const size_t> piece_counts, size_t slabs) {
  const size_t total = std::accumulate(piece_counts.begin(), piece_counts.end(), size_t{0});
  const size_t per_slab = std::max({kMinSlabPieces, (total + slabs - 1) / slabs, size_t{1}});
  std::vector<std::vector<Piece>> cut(1);
  size_t room = per_slab;
  for (size_t part = 0; part < piece_counts.size(); ++part) {
    for (size_t begin = 0; begin < piece_counts[part];) {
      if (room == 0) {
        cut.emplace_back();
        room = per_slab;
      }
      const size_t end = std::min(piece_counts[part], begin + room);
      cut.back().push_back({.part = part, .begin = begin, .end = end});
      room -= end - begin;
      begin = end;
    }
  }
  return cut;
}

bool IdOrder::Continues(const CodeSegment& segment, const Piece& piece) {
  const bool whole = segment.tables() != nullptr;
  const size_t first = whole ? 0 : piece.begin * kBlockCodes;
  const size_t end = whole ? segment.size() : std::min(piece.end * kBlockCodes, segment.size());
  const bool continues = segment.id(first) > last_id_;
  last_id_ = std::max(last_id_, segment.id(end - 1));
  return continues;
}

}  // namespace bitpool
