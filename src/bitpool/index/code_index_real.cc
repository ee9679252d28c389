#include <fmt/format.h>

#include <algorithm>

#include "bitpool/base/error.h"
#include "bitpool/index/index_snapshot.h"
#include "bitpool/index/segment_real_scan.h"
#include "bitpool/index/split_search.h"
#include "bitpool/index/whole_segments.h"

namespace bitpool {
namespace {

// From this many distinct codes in tables on, kAuto takes two stages. On clustered codes of 64 bits
// they took 1/7 of the time of a batch at 10 million, and were slower at 2 million.
constexpr size_t kTwoStageCodes = 5000000;

bool InTwoStages(const CodeSegment& segment, RealSearch how) {
  if (segment.tables() == nullptr || how == RealSearch::kExact) return false;
  return how == RealSearch::kTwoStage || segment.tables()->index().size() >= kTwoStageCodes;
}

RealSearchTask& ThreadTask() {
  static thread_local RealSearchTask task;
  return task;
}

}  // namespace

void RealSearchOptions::Validate() const {
  if (candidates < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} candidates per result: expected 1 or more", candidates));
  }
}

RealSearchResult IndexSnapshot::SearchReal(const MatrixFRef& weights, int64_t k,
                                           const RealSearchOptions& options,
                                           const RunContext& context) const {
  options.Validate();
  if (weights.rows() != bits_) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("queries of {} weights, but the codes of the index have {} bits",
                            weights.rows(), bits_));
  }
  auto result = MakeRoomForAnswers<ScoredNeighbour>(static_cast<size_t>(weights.cols()), k);
  if (check_) check_->Touch();
  const RealQueries queries(weights);
  if (result.neighbours.empty()) return result;
  const std::span<ScoredNeighbour> answers = result.neighbours;
  const int64_t there = std::min<int64_t>(k, std::max<int64_t>(1, content_->size));
  std::vector<size_t> piece_counts;
  for (const Part& part : content_->parts) {
    piece_counts.push_back(InTwoStages(*part.segment, options.how) ? 1
                                                                   : RealPieceCount(*part.segment));
  }
  const auto find_best = [&](std::span<const Piece> pieces, size_t first, size_t count,
                             const auto& emit) {
    RealSearchTask& task = ThreadTask();
    task.Start(queries, first, count, there);
    IdOrder order;
    for (const Piece& piece : pieces) {
      const Part& part = content_->parts[piece.part];
      const VisibleSegment visible = part.Visible(content_->version);
      const bool ascending = order.Continues(*part.segment, piece);
      if (InTwoStages(*part.segment, options.how)) {
        task.LookUp(visible, options.candidates);
      } else {
        task.Scan(visible, piece.begin, piece.end, ascending);
      }
    }
    static thread_local std::vector<ScoredNeighbour> best;
    for (size_t i = 0; i < count; ++i) {
      task.Finish(i, best);
      emit(i, best);
    }
  };
  SplitSearch(piece_counts, queries.size(), context, find_best, answers);
  for (const Part& part : content_->parts) RequireWhole(*part.segment);
  return result;
}

}  // namespace bitpool
