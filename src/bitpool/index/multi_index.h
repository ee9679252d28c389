#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/hamming_scan.h"
#include "bitpool/codes/top_k.h"
#include "bitpool/index/search_cost.h"

namespace bitpool {

// The arrays of a MultiIndex, to save them and to map them again.
struct MultiIndexParts {
  int substrings;
  int key_bits;
  std::span<const uint32_t> offsets;    // substrings × (2^key_bits + 1)
  std::span<const uint32_t> positions;  // substrings × codes
};

// Two rows, first < second, and their distance.
struct CodePair {
  uint32_t first;
  uint32_t second;
  int32_t distance;

  friend bool operator==(const CodePair&, const CodePair&) = default;
};

// What to call with each answer; a reference that owns nothing, so what it was made from must
// outlive it.
template <class... Args>
class AnswerSink {
 public:
  template <class Body>
  requires(!std::is_same_v<std::remove_cvref_t<Body>, AnswerSink>)
      AnswerSink(const Body& body)  // NOLINT: converts like std::function
      : state_(&body), call_([](const void* state, Args... args) {
          (*static_cast<const Body*>(state))(args...);
        }) {}

  void operator()(Args... args) const { call_(state_, args...); }

 private:
  const void* state_;
  void (*call_)(const void*, Args...);
};

using CandidateSink = AnswerSink<uint32_t, int32_t>;  // position, distance
using PairSink = AnswerSink<std::span<const CodePair>>;

// Exact search by multi-index hashing (Norouzi, Punjani and Fleet, "Fast Exact Search in Hamming
// Space With Multi-Index Hashing", 2014). m disjoint substrings of every code are keys of m tables.
// Codes at distance d agree with the query in at least one substring but for d/m bits, so looking
// up the keys around those of the query, nearest first, finds the neighbours without reading the
// other codes. Where that would take longer than reading all codes (uniform codes, far neighbours),
// the search reads all codes.
//
// The codes stay where they are, unchanged, and must outlive the index. Equal codes are answered
// correctly but each costs a comparison, so where there are many the caller should index distinct
// codes and map a position to its ids. Codes that are sorted as bytes are searched faster, because
// those with equal keys then lie together.
//
// Immutable: may be used from many threads, each with its own Scratch.
class MultiIndex {
 public:
  // Room for one search at a time, reused so that searches do not allocate.
  class Scratch;

  // `rows`: packed codes, one after the other. The result depends only on the rows.
  // Throws kInvalidArgument unless 1 <= bits <= kMaxBits and the rows are fewer than 2^32 whole
  // codes.
  static MultiIndex Build(int bits, std::span<const uint8_t> rows, const RunContext& context);

  // An index over arrays that parts() gave, which must outlive it. Throws kCorrupt when they could
  // not be those of an index of that many codes. Whether each code is under its key is not checked:
  // that needs the codes; see Verify.
  static MultiIndex FromParts(int bits, std::span<const uint8_t> rows, const MultiIndexParts& parts,
                              const RunContext& context);

  // Throws kCorrupt unless every code is in every table, under its key: then the index is the one
  // that Build makes.
  void Verify(const RunContext& context) const;

  int bits() const { return bits_; }
  size_t size() const { return size_; }
  MultiIndexParts parts() const;
  // Without the rows.
  size_t memory_bytes() const { return (offsets_.size() + positions_.size()) * sizeof(uint32_t); }

  // Calls accept(position, distance) for codes that may be among the best, each at most once, in no
  // particular order, with distance <= top.threshold() at that moment. `accept` adds what it likes
  // to `top`, under any ids; when it adds more than one, it looks at the threshold in between. At
  // the end every code with distance <= top.threshold() has been shown.
  // REQUIRES: `query` is a code of this length with zeros beyond it; `top` was Reset for it, not
  // ascending.
  void Search(std::span<const uint8_t> query, const TopK& top, Scratch& scratch,
              CandidateSink accept) const;

  // Calls accept(position, distance) once for every code within the radius, in no particular order.
  void RangeSearch(std::span<const uint8_t> query, int radius, Scratch& scratch,
                   CandidateSink accept) const;

  // Finds every pair of codes within the radius, once. They are emitted on the calling thread in
  // the order of (first, second), those of some hundred rows at a time, so memory stays bounded.
  void FindPairs(int radius, const RunContext& context, PairSink emit) const;

 private:
  // Where a substring lies in a code.
  struct Field {
    uint32_t byte;
    uint32_t bytes;
    uint32_t shift;
  };
  struct Request;
  struct Storage;

  MultiIndex(int bits, std::span<const uint8_t> rows, int substrings, int key_bits);

  size_t table_size() const { return (size_t{1} << key_bits_) + 1; }
  const uint8_t* code(uint32_t position) const { return rows_.data() + position * bytes_; }
  uint32_t Key(const uint8_t* code, const Field& field) const;
  void FillTable(size_t substring, uint32_t* offsets, uint32_t* positions,
                 const RunContext& context) const;
  void CheckTable(size_t substring) const;
  void VerifyTable(size_t substring) const;

  void Run(const Request& request, Scratch& scratch) const;
  int StepsAtOnce(int step, int32_t threshold) const;
  bool Probe(const Request& request, int step, int end, Scratch& scratch) const;
  SearchCost LocateBuckets(uint32_t first_position, Scratch& scratch) const;
  void VisitBuckets(const Request& request, Scratch& scratch) const;
  void Compare(const Request& request, size_t count, Scratch& scratch) const;
  void ScanTheRest(const Request& request, int step, Scratch& scratch) const;
  bool SeenBefore(const uint8_t* code, int step, const Scratch& scratch) const;
  bool ScanIsCheaper(const Request& request, int step, int end, SearchCost spent) const;

  int bits_;
  size_t bytes_;
  std::span<const uint8_t> rows_;
  size_t size_;
  int substrings_;
  int key_bits_;
  uint32_t key_mask_;
  std::vector<Field> fields_;
  std::vector<int64_t> probes_of_radius_;  // how many keys differ from one in exactly s bits
  std::span<const uint32_t> offsets_;
  std::span<const uint32_t> positions_;
  std::shared_ptr<const Storage> storage_;  // null when the arrays are the caller's
};

class MultiIndex::Scratch {
 public:
  // Of the last search.
  SearchCost cost() const { return spent_; }

 private:
  friend class MultiIndex;

  // A bucket to look into, at this step of the search.
  struct Bucket {
    size_t slot;  // where its offset is
    size_t substring;
    const uint32_t* positions;
    size_t size;
    int32_t step;
  };
  // Candidates before `end`, and after the run before, were found at this step.
  struct StepRun {
    size_t end;
    int32_t step;
  };

  std::vector<uint32_t> query_keys_;
  std::vector<Bucket> buckets_;
  std::vector<uint32_t> candidates_;  // positions
  std::vector<StepRun> runs_;
  std::vector<ScanHit> hits_;
  SearchCost spent_ = 0;
};

}  // namespace bitpool
