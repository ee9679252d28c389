#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bitpool {

// Which ids a search may return.
class IdFilter {
 public:
  // These ids only, in any order.
  static IdFilter FromIds(std::vector<int64_t> ids);
  // The ids whose bit is set: bit i of the bitmap is bit i%64 of word i/64. Ids beyond its end are
  // not allowed.
  static IdFilter FromBitmap(std::vector<uint64_t> words);

  bool Allows(int64_t id) const;

  // The allowed ids, ascending, where they are known as a list.
  std::optional<std::span<const int64_t>> ids() const;

 private:
  std::vector<int64_t> ids_;  // ascending
  std::vector<uint64_t> words_;
  bool is_list_ = true;
};

}  // namespace bitpool
