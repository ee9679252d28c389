#include "bitpool/index/segment_scan.h"

#include <algorithm>
#include <array>

namespace bitpool {
namespace {

constexpr size_t kTileBytes = size_t{1} << 14;
constexpr size_t kLoneTileBytes = size_t{1} << 17;

void LookUpBest(const VisibleSegment& visible, const ScanQueries& queries, size_t first_query,
                std::span<TopK> tops, ScanScratch& scratch) {
  const SegmentTables& tables = *visible.segment->tables();
  for (size_t i = 0; i < tops.size(); ++i) {
    TopK& top = tops[i];
    top.set_ascending(false);  // candidates come in any order
    tables.index().Search({queries.code(first_query + i), queries.bytes_per_code()}, top,
                          scratch.tables, [&](uint32_t row, int32_t distance) {
                            int64_t added =
                                0;  // more than k of one code are never needed: their ids ascend
                            tables.ForEachSlot(row, [&](uint32_t slot) {
                              const int64_t id = visible.segment->id(slot);
                              if (visible.Visible(slot)) {
                                top.Add(id, distance);
                                ++added;
                              }
                              return added < top.k() && distance <= top.threshold();
                            });
                          });
  }
}

}  // namespace

size_t TileBlocks(size_t bytes_per_code, size_t queries) {
  const size_t bytes = queries == 1 ? kLoneTileBytes : kTileBytes;
  return std::max<size_t>(1, bytes / BlockBytes(bytes_per_code));
}

size_t PieceCount(const CodeSegment& segment) {
  return segment.tables() != nullptr ? 1 : segment.block_count();
}

void ScanForBest(const VisibleSegment& visible, size_t begin, size_t end,
                 const ScanQueries& queries, size_t first_query, std::span<TopK> tops,
                 ScanScratch& scratch) {
  const CodeSegment& segment = *visible.segment;
  if (segment.tables() != nullptr) return LookUpBest(visible, queries, first_query, tops, scratch);
  const size_t largest = TileBlocks(queries.bytes_per_code(), tops.size());
  const size_t room = largest * kBlockCodes;
  scratch.hits.resize(std::max(scratch.hits.size(), room * std::min(kScanGroup, tops.size())));
  std::array<ScanRequest, kScanGroup> requests;
  // Until there are k results all codes are hits, so tiles are small at first.
  size_t tile = 1;
  for (size_t first = begin; first < end; first += tile, tile = std::min(largest, 2 * tile)) {
    const size_t blocks = std::min(tile, end - first);
    for (size_t q = 0; q < tops.size(); q += kScanGroup) {
      const size_t group = std::min(kScanGroup, tops.size() - q);
      for (size_t i = 0; i < group; ++i) {
        requests[i] = {.query = first_query + q + i,
                       .threshold = tops[q + i].threshold(),
                       .hits = scratch.hits.data() + i * room,
                       .hit_count = 0};
      }
      ScanBlocks(segment.block(first), blocks, queries, std::span(requests).first(group));
      for (size_t i = 0; i < group; ++i) {
        TopK& top = tops[q + i];
        for (const ScanHit& hit : std::span(requests[i].hits, requests[i].hit_count)) {
          const size_t slot = first * kBlockCodes + hit.position;
          if (static_cast<int32_t>(hit.distance) > top.threshold() || slot >= segment.size())
            continue;
          const int64_t id = segment.id(slot);
          if (visible.Visible(slot)) top.Add(id, static_cast<int32_t>(hit.distance));
        }
      }
    }
  }
}

void ScanWithinRadius(const VisibleSegment& visible, size_t begin, size_t end,
                      const ScanQueries& queries, size_t query, int32_t radius,
                      ScanScratch& scratch, std::vector<Neighbour>& found) {
  const CodeSegment& segment = *visible.segment;
  if (const SegmentTables* tables = segment.tables(); tables != nullptr) {
    tables->index().RangeSearch({queries.code(query), queries.bytes_per_code()}, radius,
                                scratch.tables, [&](uint32_t row, int32_t distance) {
                                  tables->ForEachSlot(row, [&](uint32_t slot) {
                                    const int64_t id = segment.id(slot);
                                    if (visible.Visible(slot))
                                      found.push_back({.id = id, .distance = distance});
                                    return true;
                                  });
                                });
    return;
  }
  const size_t tile = TileBlocks(queries.bytes_per_code(), 1);
  scratch.hits.resize(std::max(scratch.hits.size(), tile * kBlockCodes));
  for (size_t first = begin; first < end; first += tile) {
    ScanRequest request = {
        .query = query, .threshold = radius, .hits = scratch.hits.data(), .hit_count = 0};
    ScanBlocks(segment.block(first), std::min(tile, end - first), queries, {&request, 1});
    for (const ScanHit& hit : std::span(request.hits, request.hit_count)) {
      const size_t slot = first * kBlockCodes + hit.position;
      if (slot >= segment.size()) continue;
      const int64_t id = segment.id(slot);
      if (visible.Visible(slot))
        found.push_back({.id = id, .distance = static_cast<int32_t>(hit.distance)});
    }
  }
}

}  // namespace bitpool
