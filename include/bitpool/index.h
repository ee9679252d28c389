#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "bitpool/codes.h"
#include "bitpool/export.h"
#include "bitpool/run.h"
#include "bitpool/vectors.h"

namespace bitpool {
inline namespace v0 {

// A code that was found.
struct Hit {
  std::int64_t id = -1;
  int distance = 0;  // bits that differ
  double score = 0;  // SearchReal: Σ hᵢbᵢ, larger is nearer
};

// What each query found, the nearest first: results[q] is a span of hits.
class Hits {
 public:
  Hits(std::vector<Hit> hits, std::vector<std::size_t> ends)
      : hits_(std::move(hits)), ends_(std::move(ends)) {}

  std::size_t size() const { return ends_.size(); }  // queries
  std::span<const Hit> operator[](std::size_t query) const {
    const std::size_t begin = query == 0 ? 0 : ends_[query - 1];
    return std::span(hits_).subspan(begin, ends_[query] - begin);
  }

 private:
  std::vector<Hit> hits_;
  std::vector<std::size_t> ends_;
};

// Codes under ids, searched exactly. Any thread may search while another adds and removes: a search
// sees the codes of one moment. Results are sorted by (distance, id), at any number of threads.
class Index {
 public:
  // Throws kInvalidArgument unless 1 <= bits <= 4096.
  BITPOOL_EXPORT explicit Index(int bits);
  BITPOOL_EXPORT ~Index();
  BITPOOL_EXPORT Index(Index&& other) noexcept;
  BITPOOL_EXPORT Index& operator=(Index&& other) noexcept;

  // Maps an index that was saved: ready at once, at any size.
  BITPOOL_EXPORT static Index Open(const std::filesystem::path& path, const Run& run = {});
  // Writes the index as it is at this moment (.bpi) and replaces an existing file. Codes that are
  // mapped from a file are verified first.
  BITPOOL_EXPORT void Save(const std::filesystem::path& path) const;

  BITPOOL_EXPORT int bits() const;
  BITPOOL_EXPORT std::size_t size() const;
  BITPOOL_EXPORT bool Contains(std::int64_t id) const;

  // Adds codes under ids that were never used in this index, and returns the first; the others
  // follow it.
  BITPOOL_EXPORT std::int64_t Add(const Codes& codes);
  // Adds codes under these ids. Throws kInvalidArgument, and adds nothing, when an id is negative,
  // appears twice or is already there.
  BITPOOL_EXPORT void Add(const Codes& codes, std::span<const std::int64_t> ids);
  // False when there is no such id.
  BITPOOL_EXPORT bool Remove(std::int64_t id);
  // Gives an id a new code, whether it had one or not.
  BITPOOL_EXPORT void Replace(std::int64_t id, std::span<const std::uint8_t> code);

  // The k codes nearest to each query; fewer where there are not that many.
  BITPOOL_EXPORT Hits Search(const Codes& queries, std::int64_t k, const Run& run = {}) const;
  // The k codes with the highest score for each query of real numbers (Model::Project).
  BITPOOL_EXPORT Hits SearchReal(const Vectors& queries, std::int64_t k, const Run& run = {}) const;
  // All codes within a radius of each query.
  BITPOOL_EXPORT Hits SearchRadius(const Codes& queries, int radius, const Run& run = {}) const;

 private:
  struct Impl;
  explicit Index(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace bitpool
