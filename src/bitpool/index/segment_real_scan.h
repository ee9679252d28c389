#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bitpool/codes/asymmetric_scan.h"
#include "bitpool/codes/top_k.h"
#include "bitpool/codes/top_scores.h"
#include "bitpool/index/segment_scan.h"

namespace bitpool {

// How many pieces a scan for real queries may be cut into: blocks of codes, also for tables, whose
// rows are packed into blocks while they are scanned. With codes of 64 bits that takes 20 ms for 10
// million codes, as long as scanning them for 15 queries, and is done once for all queries of a
// task (up to 32).
size_t RealPieceCount(const CodeSegment& segment);

// The search for some real queries on one thread; kept, so that searches do not allocate.
class RealSearchTask {
 public:
  // For queries first to first + count. REQUIRES: the queries outlive the task; k > 0.
  void Start(const RealQueries& queries, size_t first, size_t count, int64_t k);

  // Shows every visible code of pieces [begin, end) that may be among the best. `ascending`: their
  // ids come after all that were shown before.
  void Scan(const VisibleSegment& visible, size_t begin, size_t end, bool ascending);

  // Shows the visible codes nearest to the signs of each query: about `candidates` per wanted
  // result, all at the distance of the farthest among them. REQUIRES: a segment with tables.
  void LookUp(const VisibleSegment& visible, int64_t candidates);

  // The best of query first + i, in order.
  void Finish(size_t i, std::vector<ScoredNeighbour>& best) { tops_[i].Finish(best); }

 private:
  // Codes to be scored, packed, and the slot or the row of each.
  struct Candidates {
    std::vector<uint8_t> codes;
    std::vector<uint32_t> places;
    std::vector<double> scores;
  };
  struct NearRow {
    uint32_t row;
    int32_t distance;
  };

  const uint8_t* Blocks(const VisibleSegment& visible, size_t first, size_t count);
  void Bound(size_t i, bool ascending);
  void ScanTile(const VisibleSegment& visible, size_t first, size_t count, bool ascending);
  void ShowHits(const VisibleSegment& visible, size_t i, const uint8_t* blocks, size_t first,
                std::span<const uint32_t> hits);
  void FindNearRows(const VisibleSegment& visible, size_t query, int64_t k, int64_t candidates);
  void ShowCandidates(const VisibleSegment& visible, size_t i);
  void ShowRow(const VisibleSegment& visible, size_t i, uint32_t row, const ScoredNeighbour& found);

  const RealQueries* queries_ = nullptr;
  size_t first_query_ = 0;
  size_t count_ = 0;
  std::vector<TopScores> tops_;
  std::vector<PenaltyBound> bounds_;
  std::vector<uint32_t> hits_;
  Candidates candidates_;
  AlignedBytes packed_;
  MultiIndex::Scratch tables_;
  TopK nearest_;
  std::vector<NearRow> near_rows_;
};

}  // namespace bitpool
