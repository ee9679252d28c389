#include <fmt/format.h>

#include <algorithm>

#include "bitpool/base/error.h"
#include "bitpool/index/code_index.h"
#include "bitpool/index/segment_real_scan.h"
#include "bitpool/index/split_search.h"

namespace bitpool {
namespace {

// From so many distinct codes in tables on, kAuto takes two stages. On clustered codes of 64 bits
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

std::vector<ScoredNeighbour> ScoreList(const RealQueries& queries, size_t query,
                                       const BinaryCodes& codes, std::span<const int64_t> ids) {
  std::vector<double> scores(ids.size());
  queries.Score(query, codes.rows(), scores.data());
  std::vector<ScoredNeighbour> all;
  for (size_t i = 0; i < ids.size(); ++i) {
    all.push_back({.id = ids[i],
                   .score = scores[i],
                   .distance = HammingDistance({queries.code(query), queries.bytes_per_code()},
                                               codes.code(static_cast<Index>(i)))});
  }
  return all;
}

}  // namespace

void RealSearchOptions::Validate() const {
  if (candidates < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} candidates per result: expected a number from 1", candidates));
  }
}

RealSearchResult CodeIndex::SearchReal(const MatrixFRef& weights, int64_t k,
                                       const RealSearchOptions& options, const RunContext& context,
                                       const IdFilter* filter) const {
  options.Validate();
  RequireCount(k);
  if (weights.rows() != bits_) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("queries of {} weights, but the codes of the index have {} bits",
                            weights.rows(), bits_));
  }
  if (check_) check_->Touch();
  const RealQueries queries(weights);
  const std::shared_ptr<const Moment> moment = Now();
  RealSearchResult result;
  result.k = k;
  result.neighbours.resize(queries.size() * static_cast<size_t>(k));
  if (result.neighbours.empty()) return result;
  const std::span<ScoredNeighbour> answers = result.neighbours;
  if (const std::optional<ListedCodes> listed = FindListed(*moment, filter)) {
    AnswerFromList(
        queries.size(), context,
        [&](size_t query, std::vector<ScoredNeighbour>& all) {
          all = ScoreList(queries, query, listed->codes, listed->ids);
        },
        answers);
    return result;
  }

  std::vector<size_t> piece_counts;
  for (const Part& part : moment->parts) {
    piece_counts.push_back(InTwoStages(*part.segment, options.how) ? 1
                                                                   : RealPieceCount(*part.segment));
  }
  const auto find_best = [&](std::span<const Piece> pieces, size_t first, size_t count,
                             const auto& emit) {
    RealSearchTask& task = ThreadTask();
    task.Start(queries, first, count, k);
    IdOrder order;
    for (const Piece& piece : pieces) {
      const Part& part = moment->parts[piece.part];
      const VisibleSegment visible = part.Visible(moment->version, filter);
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
  return result;
}

}  // namespace bitpool
