#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/codes/top_k.h"
#include "bitpool/codes/top_scores.h"
#include "bitpool/index/background_check.h"
#include "bitpool/index/code_segment.h"
#include "bitpool/index/id_filter.h"
#include "bitpool/index/segment_scan.h"
#include "bitpool/index/tombstones.h"

namespace bitpool {

enum class IndexKind {
  kAuto,        // whichever costs less for the codes at hand, counted when they are added
  kFlat,        // scan all codes: fastest for short or evenly spread codes
  kMultiIndex,  // look codes up by parts of them: fastest for long codes in clusters
};

struct IndexOptions {
  int bits = 64;  // length of the codes, 1 to kMaxBits
  IndexKind kind = IndexKind::kAuto;
  int threads = 0;  // for building, 0: all

  void Validate() const;
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
using RealSearchResult = BestOfEach<ScoredNeighbour>;  // by (falling score, id)

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

// Binary codes under ids of the user's, searched exactly.
//
// Codes lie in segments that never change. Adding makes a new segment and merges it with neighbours
// of like size, so there are few; removing marks a slot. Each change publishes a new list of
// segments, and a search works on the list it began with: it may run while other threads add and
// remove, waits for nobody, and sees one consistent moment.
class CodeIndex {
 public:
  explicit CodeIndex(const IndexOptions& options);

  int bits() const { return bits_; }
  Index size() const;

  // Adds codes under new ids. Throws kInvalidArgument, and adds nothing, when an id is negative,
  // appears twice or is in the index already, or when the codes have another length.
  void Add(const BinaryCodes& codes, std::span<const int64_t> ids);

  // False when there is no such id. Takes time that does not depend on the number of codes but for
  // finding the id.
  bool Remove(int64_t id);

  // Gives an id a new code, whether it had one or not; a search sees the old or the new one, never
  // both or none.
  void Replace(int64_t id, std::span<const uint8_t> code);

  bool Contains(int64_t id) const;

  // The k nearest of each query among the ids the filter allows (all, without one): always k of
  // them when there are so many. One query is split over the threads, many are shared among them;
  // the result is the same.
  SearchResult Search(const BinaryCodes& queries, int64_t k, const RunContext& context,
                      const IdFilter* filter = nullptr) const;

  // The k codes with the highest score Σ hᵢbᵢ of each query, a column of weights h, where bᵢ is +1
  // for a bit that is 1 and −1 for one that is 0 (see codes/asymmetric_scan.h). Segments in blocks
  // are scanned, exactly. For segments in tables the options say how.
  RealSearchResult SearchReal(const MatrixFRef& weights, int64_t k,
                              const RealSearchOptions& options, const RunContext& context,
                              const IdFilter* filter = nullptr) const;

  // All codes within a radius of each query, by (distance, id).
  std::vector<std::vector<Neighbour>> RangeSearch(const BinaryCodes& queries, int radius,
                                                  const RunContext& context,
                                                  const IdFilter* filter = nullptr) const;

  // One segment with everything that is not removed: what is saved.
  std::shared_ptr<const CodeSegment> Compacted() const;
  // An index that begins with this segment. Cheap: nothing is copied. `check`, if any, is touched
  // by every search.
  static std::unique_ptr<CodeIndex> FromSegment(IndexKind kind,
                                                std::shared_ptr<const CodeSegment> segment,
                                                std::shared_ptr<BackgroundCheck> check = nullptr);

  // The bytes of the codes that are kept in tables, with their tables; 0 when all are scanned.
  size_t table_bytes() const;

  // Every pair of codes within the radius, once, in no particular order, some at a time on the
  // calling thread. Without n² work where codes are in clusters.
  void FindPairs(int radius, const RunContext& context, IdPairSink emit) const;

  // Ids whose codes hang together by steps of at most the radius, ascending, groups of two and
  // more, by their first id.
  std::vector<std::vector<int64_t>> FindGroups(int radius, const RunContext& context) const;

 private:
  struct Part {
    std::shared_ptr<const CodeSegment> segment;
    std::shared_ptr<Tombstones> tombstones;
    size_t alive() const { return segment->size() - tombstones->count(); }
    VisibleSegment Visible(uint64_t version, const IdFilter* filter) const {
      return {.segment = segment.get(),
              .tombstones = tombstones.get(),
              .version = version,
              .filter = filter};
    }
  };
  // What the index holds at one moment.
  struct Moment {
    std::vector<Part> parts;
    uint64_t version = 0;
    int64_t size = 0;
  };

  std::shared_ptr<const Moment> Now() const;
  void Publish(Moment moment);
  // Marks the id as removed as of `version`; false when it is not there. REQUIRES: the caller holds
  // changing_.
  bool MarkRemoved(const Moment& moment, int64_t id, uint64_t version) const;
  std::shared_ptr<const CodeSegment> MakeSegment(std::span<const uint8_t> rows,
                                                 std::vector<int64_t> ids) const;
  std::shared_ptr<const CodeSegment> MergeParts(std::span<const Part> parts,
                                                uint64_t version) const;
  void AppendSegment(Moment& moment, const std::shared_ptr<const CodeSegment>& segment) const;
  void DropMostlyRemoved(Moment& moment) const;
  void RequireQueries(const BinaryCodes& queries) const;
  static void RequireCount(int64_t k);
  // The codes of the few ids a filter lists; nothing when there is no such filter.
  struct ListedCodes {
    BinaryCodes codes;
    std::vector<int64_t> ids;
  };
  std::optional<ListedCodes> FindListed(const Moment& moment, const IdFilter* filter) const;

  int bits_;
  IndexKind kind_;
  RunContext building_;
  std::shared_ptr<BackgroundCheck> check_;  // of the file the codes are mapped from, or null
  std::mutex changing_;                     // held by whoever changes the index
  mutable std::mutex publishing_;           // held for the moment it takes to copy or set now_
  std::shared_ptr<const Moment> now_;
};

// An index of codes under their numbers, from 0.
std::unique_ptr<CodeIndex> MakeIndex(const BinaryCodes& codes, IndexKind kind,
                                     const RunContext& context);

}  // namespace bitpool
