#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitpool/codes/hamming_scan.h"
#include "bitpool/codes/top_k.h"
#include "bitpool/index/code_segment.h"
#include "bitpool/index/tombstones.h"

namespace bitpool {

// A segment as a search sees it: without what was removed before the search began.
struct VisibleSegment {
  const CodeSegment* segment;
  const Tombstones* tombstones;
  uint64_t version;

  bool Visible(size_t slot) const { return !tombstones->Removed(slot, version); }
};

// Buffers of one thread, kept between scans.
struct ScanScratch {
  std::vector<ScanHit> hits;
  std::vector<TopK> tops;
  MultiIndex::Scratch tables;
};

// Blocks scanned for all queries before the next: few enough to stay in the first-level cache. One
// query alone has no use for that, and larger tiles cost it fewer calls.
size_t TileBlocks(size_t bytes_per_code, size_t queries);

// How many pieces a search may cut the segment into: its blocks. Tables are one piece.
size_t PieceCount(const CodeSegment& segment);

// Shows every visible code of pieces [begin, end) that may be among the best of query first_query +
// i to tops[i].
void ScanForBest(const VisibleSegment& visible, size_t begin, size_t end,
                 const ScanQueries& queries, size_t first_query, std::span<TopK> tops,
                 ScanScratch& scratch);

// Appends every visible code of pieces [begin, end) within the radius of one query.
void ScanWithinRadius(const VisibleSegment& visible, size_t begin, size_t end,
                      const ScanQueries& queries, size_t query, int32_t radius,
                      ScanScratch& scratch, std::vector<Neighbour>& found);

}  // namespace bitpool
