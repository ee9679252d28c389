#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/codes/top_k.h"
#include "bitpool/codes/top_scores.h"
#include "bitpool/index/background_check.h"
#include "bitpool/index/code_segment.h"
#include "bitpool/index/segment_scan.h"
#include "bitpool/index/tombstones.h"

namespace bitpool {

enum class IndexKind {
  kAuto,        // whichever costs less for the codes at hand, counted when they are added
  kFlat,        // scan all codes: fastest for short or evenly spread codes
  kMultiIndex,  // look codes up by parts of them: fastest for long codes in clusters
};

// The k best codes of each query.
template <class Answer>
struct BestOfEach {
  int64_t k = 0;
  std::vector<Answer> neighbours;  // k per query, in order, padded with an Answer() of id −1

  std::span<const Answer> of(Index query) const {
    return std::span(neighbours).subspan(static_cast<size_t>(query * k), static_cast<size_t>(k));
  }
};
using SearchResult = BestOfEach<Neighbour>;            // by (distance, id)
using RealSearchResult = BestOfEach<ScoredNeighbour>;  // by (descending score, id)

// How a search with real queries treats segments that are kept in tables.
enum class RealSearch {
  kAuto,      // exact, but two-stage where tables are so large that it is several times as fast
  kExact,     // all codes are scanned
  kTwoStage,  // the codes nearest to the signs of the query are looked up, and scored
};

// Two stages give exact scores, but a code far from the signs may be missed: of the ten best of
// 10 million clustered codes of 64 bits they found 97.2 % with 3 candidates per result, 99.8 % with
// 10 and all with 20 (2026-11-15). The time grows with the candidates, and beyond the size of a
// cluster the look-up becomes a scan.
struct RealSearchOptions {
  RealSearch how = RealSearch::kAuto;
  int64_t candidates = 10;  // two-stage: scored codes per wanted result

  void Validate() const;
};

// Two ids, first < second, and the distance of their codes.
struct IdPair {
  int64_t first;
  int64_t second;
  int32_t distance;

  friend bool operator==(const IdPair&, const IdPair&) = default;
};
using IdPairSink = AnswerSink<std::span<const IdPair>>;

// The codes that an index holds at one moment. All searches of a snapshot see the same codes,
// whatever other threads add and remove meanwhile. Cheap to make and to copy, may be used from many
// threads, and keeps the codes alive even without the index.
class IndexSnapshot {
 public:
  int bits() const { return bits_; }
  Index size() const { return content_->size; }

  bool Contains(int64_t id) const { return Find(id).part != nullptr; }
  // Copies the code of an id; false when there is no such id. REQUIRES: room for
  // BytesPerCode(bits).
  bool CopyCode(int64_t id, std::span<uint8_t> code) const;

  // The k codes nearest to each query: always k of them when there are that many. One query is
  // split over the threads, many are shared among them; the result is the same.
  SearchResult Search(const BinaryCodes& queries, int64_t k, const RunContext& context) const;

  // The k codes with the highest score Σ hᵢbᵢ for each query, a column of weights h, where bᵢ is +1
  // for a bit that is 1 and −1 for one that is 0 (see codes/real_queries.h). Segments in blocks
  // are scanned, exactly. For segments in tables the options say how.
  RealSearchResult SearchReal(const MatrixFRef& weights, int64_t k,
                              const RealSearchOptions& options, const RunContext& context) const;

  // All codes within a radius of each query, by (distance, id).
  std::vector<std::vector<Neighbour>> RangeSearch(const BinaryCodes& queries, int radius,
                                                  const RunContext& context) const;

  // Emits every pair of codes within the radius once, in no particular order, some at a time, on
  // the calling thread. Needs less than n² work where codes are in clusters.
  void FindPairs(int radius, const RunContext& context, IdPairSink emit) const;

  // Groups of two or more ids whose codes form chains, each within the radius of the next. Ids
  // ascend, and groups are in the order of their first ids.
  std::vector<std::vector<int64_t>> FindGroups(int radius, const RunContext& context) const;

  // One segment with everything that is not removed: what is saved.
  std::shared_ptr<const CodeSegment> Compacted() const;

  // The bytes of the codes that are kept in tables, with their tables; 0 when all are scanned.
  size_t table_bytes() const;

  // Starts to verify the file that the codes lie in, if any. Throws what was found so far.
  void StartVerifying() const {
    if (check_) check_->Touch();
  }
  // Whether that has ended and found nothing.
  bool IsVerified() const { return !check_ || check_->passed(); }
  // Waits until the file that the codes lie in, if any, has been verified. Throws kCorrupt for
  // damage. What was found before can be relied on only after this has returned.
  void RequireVerified() const {
    if (check_) check_->Wait();
  }

 private:
  friend class CodeIndex;
  struct Part {
    std::shared_ptr<const CodeSegment> segment;
    std::shared_ptr<Tombstones> tombstones;
    size_t alive() const { return segment->size() - tombstones->count(); }
    VisibleSegment Visible(uint64_t version) const {
      return {.segment = segment.get(), .tombstones = tombstones.get(), .version = version};
    }
  };
  // A slot that has an id now.
  struct Place {
    const Part* part = nullptr;  // null: the id is not there
    size_t slot = 0;
  };
  struct Content {
    std::vector<Part> parts;
    uint64_t version = 0;
    int64_t size = 0;

    Place Find(int64_t id) const;
  };

  IndexSnapshot(int bits, IndexKind kind, std::shared_ptr<const Content> content,
                std::shared_ptr<BackgroundCheck> check)
      : bits_(bits), kind_(kind), content_(std::move(content)), check_(std::move(check)) {}

  Place Find(int64_t id) const { return content_->Find(id); }
  void RequireQueries(const BinaryCodes& queries) const;
  // Everything in the parts that is not removed as of `version`, in the order of the ids.
  struct MergedRows {
    std::vector<uint8_t> rows;
    std::vector<int64_t> ids;
  };
  static MergedRows Merge(int bits, std::span<const Part> parts, uint64_t version);

  int bits_;
  IndexKind kind_;
  std::shared_ptr<const Content> content_;
  std::shared_ptr<BackgroundCheck> check_;  // of the file the codes are mapped from, or null
};

}  // namespace bitpool
