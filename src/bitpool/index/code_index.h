#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/index/background_check.h"
#include "bitpool/index/code_segment.h"
#include "bitpool/index/index_snapshot.h"

namespace bitpool {

// Ids are numbers from 0 to this, so that there is always one more to count to.
inline constexpr int64_t kMaxId = INT64_MAX - 1;

// Ids for this many codes, counted up from the first that was never used. Throws kInvalidArgument
// when there are not that many up to kMaxId.
std::vector<int64_t> CountIds(int64_t first, Index count);

struct IndexOptions {
  int bits = 64;  // length of the codes, 1 to kMaxBits
  IndexKind kind = IndexKind::kAuto;
  int threads = 0;  // for building, 0: all

  void Validate() const;
};

// Binary codes under ids that the user chooses, searched exactly.
//
// Codes lie in segments that never change. Adding makes a new segment and merges it with neighbours
// of like size, so there are few; removing marks a slot. Each change publishes a new list of
// segments, and a search works on the list it began with: it may run while other threads add and
// remove, waits for nobody, and sees one consistent moment. Several searches of one moment run on a
// Snapshot.
class CodeIndex {
 public:
  explicit CodeIndex(const IndexOptions& options);

  int bits() const { return bits_; }

  // Removes ids and adds codes under new ones as one change: a search sees all of it or nothing.
  // Ids to be removed that are not there are passed over; an id that is removed may be added again
  // with another code. Apart from finding the ids, takes time that depends on the size of the
  // change, on average. Returns how many were removed. Throws kInvalidArgument when an id is
  // negative or beyond kMaxId, is added twice or is already in the index, or when the codes have
  // another length, and kIo when a file that codes are mapped from was cut off. Whatever it throws,
  // nothing is changed.
  size_t Change(std::span<const int64_t> removed, const BinaryCodes& added,
                std::span<const int64_t> added_ids);

  // Adds codes under new ids. Throws as Change does.
  void Add(const BinaryCodes& codes, std::span<const int64_t> ids) { Change({}, codes, ids); }
  // False when there is no such id.
  bool Remove(int64_t id) { return Change({&id, 1}, BinaryCodes(bits_), {}) == 1; }
  // Gives an id a new code, whether it had one or not; a search sees the old or the new one, never
  // both or none.
  void Replace(int64_t id, std::span<const uint8_t> code) {
    Change({&id, 1}, BinaryCodes(bits_, {code.begin(), code.end()}), {&id, 1});
  }

  // What the index holds now.
  IndexSnapshot Snapshot() const;

  // The largest id of its codes and of those removed since they were merged; −1 without any.
  int64_t max_id() const;

  // The same as those of a snapshot that is taken now.
  Index size() const { return Snapshot().size(); }
  bool Contains(int64_t id) const { return Snapshot().Contains(id); }
  SearchResult Search(const BinaryCodes& queries, int64_t k, const RunContext& context) const {
    return Snapshot().Search(queries, k, context);
  }
  RealSearchResult SearchReal(const MatrixFRef& weights, int64_t k,
                              const RealSearchOptions& options, const RunContext& context) const {
    return Snapshot().SearchReal(weights, k, options, context);
  }
  std::vector<std::vector<Neighbour>> RangeSearch(const BinaryCodes& queries, int radius,
                                                  const RunContext& context) const {
    return Snapshot().RangeSearch(queries, radius, context);
  }
  void FindPairs(int radius, const RunContext& context, IdPairSink emit) const {
    Snapshot().FindPairs(radius, context, emit);
  }
  std::vector<std::vector<int64_t>> FindGroups(int radius, const RunContext& context) const {
    return Snapshot().FindGroups(radius, context);
  }
  size_t table_bytes() const { return Snapshot().table_bytes(); }

  // An index that begins with this segment. Cheap: nothing is copied. `check`, if any, is touched
  // by every search.
  static std::unique_ptr<CodeIndex> FromSegment(IndexKind kind,
                                                std::shared_ptr<const CodeSegment> segment,
                                                std::shared_ptr<BackgroundCheck> check = nullptr);

 private:
  using Part = IndexSnapshot::Part;
  using Content = IndexSnapshot::Content;

  std::shared_ptr<const Content> Now() const;
  void Publish(Content content);
  std::shared_ptr<const CodeSegment> MakeSegment(std::span<const uint8_t> rows,
                                                 std::vector<int64_t> ids) const;
  std::shared_ptr<const CodeSegment> MergeParts(std::span<const Part> parts,
                                                uint64_t version) const;
  void AppendSegment(Content& content, const std::shared_ptr<const CodeSegment>& segment) const;
  void DropMostlyRemoved(Content& content) const;

  int bits_;
  IndexKind kind_;
  RunContext building_;
  std::shared_ptr<BackgroundCheck> check_;  // of the file the codes are mapped from, or null
  std::mutex changing_;                     // held by whoever changes the index
  mutable std::mutex publishing_;           // held for the moment it takes to copy or set now_
  std::shared_ptr<const Content> now_;
};

// An index of codes under their numbers, from 0.
std::unique_ptr<CodeIndex> MakeIndex(const BinaryCodes& codes, IndexKind kind,
                                     const RunContext& context);

}  // namespace bitpool
