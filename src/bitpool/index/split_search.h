#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/run_context.h"
#include "bitpool/index/code_segment.h"
#include "bitpool/index/index_snapshot.h"

namespace bitpool {

// How a search is cut into tasks: one query is split over the threads, many are shared among them.

inline constexpr size_t kQueriesPerTask = 32;  // share a pass over the codes

// A run of pieces (blocks, or all of the tables) of one segment.
struct Piece {
  size_t part;
  size_t begin;
  size_t end;
};

// Cuts all pieces into at most `slabs` runs of about the same size.
std::vector<std::vector<Piece>> CutIntoSlabs(std::span<const size_t> piece_counts, size_t slabs);

// Follows the ids of the pieces a task goes through.
class IdOrder {
 public:
  // Whether all ids of this piece come after those of the pieces before it.
  bool Continues(const CodeSegment& segment, const Piece& piece);

 private:
  int64_t last_id_ = -1;
};

// The first of a list that is in order, padded.
template <class Answer>
void TakeFirst(const std::vector<Answer>& all, std::span<Answer> out) {
  const auto kept = static_cast<ptrdiff_t>(std::min(all.size(), out.size()));
  std::copy_n(all.begin(), kept, out.begin());
  std::fill(out.begin() + kept, out.end(), Answer());
}

// The best of lists that were found separately, padded.
template <class Answer>
void MergeBest(std::vector<Answer>& all, std::span<Answer> out) {
  const auto kept = static_cast<ptrdiff_t>(std::min(all.size(), out.size()));
  std::partial_sort(all.begin(), all.begin() + kept, all.end());
  TakeFirst(all, out);
}

// Places for the k best of each query. Throws kInvalidArgument for a negative k, and kResources,
// with the numbers, when there is no memory for that many: k may be whatever a user has typed.
template <class Answer>
BestOfEach<Answer> MakeRoomForAnswers(size_t query_count, int64_t k) {
  if (k < 0) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("k = {}: expected 0 or more", k));
  }
  BestOfEach<Answer> result{.k = k, .neighbours = {}};
  const auto places = static_cast<size_t>(k);
  try {
    if (query_count > 0 && places > result.neighbours.max_size() / query_count) {
      throw std::bad_alloc();
    }
    result.neighbours.resize(query_count * places);
  } catch (const std::bad_alloc&) {
    throw Error(
        ErrorCode::kResources,
        fmt::format("k = {}: no memory for so many answers to each of {} queries", k, query_count));
  }
  return result;
}

// Finds the best of each query: find_best(pieces, first, count, emit) calls emit(i, best) with
// those of query first + i in the pieces, in order. The result does not depend on the number of
// threads when find_best gives, of any pieces, the best in the order of the answers. REQUIRES:
// query_count > 0; answers has k > 0 places per query.
template <class Answer, class FindBest>
void SplitSearch(std::span<const size_t> piece_counts, size_t query_count,
                 const RunContext& context, const FindBest& find_best, std::span<Answer> answers) {
  const size_t k = answers.size() / query_count;
  const size_t query_tasks = (query_count + kQueriesPerTask - 1) / kQueriesPerTask;
  const auto threads = static_cast<size_t>(context.threads());
  // Enough tasks that the threads end together; one pass over everything when the queries alone are
  // enough.
  const size_t slabs = threads == 1 ? 1 : std::max<size_t>(1, 4 * threads / query_tasks);
  const auto cut = CutIntoSlabs(piece_counts, slabs);
  // found[slab][query]; only with several slabs
  std::vector<std::vector<std::vector<Answer>>> found(cut.size());
  for (auto& lists : found) lists.resize(cut.size() > 1 ? query_count : 0);

  context.ParallelFor(query_tasks * cut.size(), 1, [&](size_t task, size_t) {
    const size_t slab = task % cut.size();
    const size_t first = task / cut.size() * kQueriesPerTask;
    const size_t count = std::min(kQueriesPerTask, query_count - first);
    find_best(cut[slab], first, count, [&](size_t i, std::vector<Answer>& best) {
      if (cut.size() > 1) {
        found[slab][first + i] = best;
      } else {
        TakeFirst(best, answers.subspan((first + i) * k, k));
      }
    });
  });
  if (cut.size() == 1) return;
  context.ParallelFor(query_count, 16, [&](size_t begin, size_t end) {
    std::vector<Answer> all;
    for (size_t query = begin; query < end; ++query) {
      all.clear();
      for (const auto& lists : found)
        all.insert(all.end(), lists[query].begin(), lists[query].end());
      MergeBest(all, answers.subspan(query * k, k));
    }
  });
}

}  // namespace bitpool
