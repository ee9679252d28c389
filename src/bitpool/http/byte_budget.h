#pragma once

#include <atomic>
#include <cstdint>

namespace bitpool {

// How many bytes of bodies the server may hold at one time.
class ByteBudget {
 public:
  explicit ByteBudget(uint64_t bytes) : left_(static_cast<int64_t>(bytes)) {}

  bool TryTake(uint64_t bytes) {
    const auto wanted = static_cast<int64_t>(bytes);
    if (left_.fetch_sub(wanted) >= wanted) return true;
    left_.fetch_add(wanted);
    return false;
  }
  void GiveBack(uint64_t bytes) { left_.fetch_add(static_cast<int64_t>(bytes)); }

 private:
  std::atomic<int64_t> left_;
};

}  // namespace bitpool
