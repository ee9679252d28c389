#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "bitpool/base/run_context.h"

// Shared by the tests of this room.
namespace bitpool {

inline const RunContext& OneThread() {
  static const RunContext context({.threads = 1});
  return context;
}

// Ids that count up.
inline std::vector<int64_t> Count(size_t count, int64_t first = 0) {
  std::vector<int64_t> ids(count);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

}  // namespace bitpool
