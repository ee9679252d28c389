#include "bitpool/index/tombstones.h"

namespace bitpool {

void Tombstones::Remove(size_t slot, uint64_t version) {
  if (words_.load(std::memory_order_relaxed) == nullptr) {
    words_.store(new std::atomic<uint64_t>[slots_ / 64 + 1](), std::memory_order_release);
  }
  {
    const std::lock_guard lock(mutex_);
    versions_.emplace(slot, version);
  }
  words_.load(std::memory_order_relaxed)[slot / 64].fetch_or(uint64_t{1} << (slot % 64),
                                                             std::memory_order_relaxed);
}

// The slot's bit stays, and only makes readers look twice.
void Tombstones::Restore(size_t slot) noexcept {
  const std::lock_guard lock(mutex_);
  versions_.erase(slot);
}

bool Tombstones::RemovedBefore(size_t slot, uint64_t version) const {
  const std::shared_lock lock(mutex_);
  const auto found = versions_.find(slot);
  return found != versions_.end() && found->second <= version;
}

}  // namespace bitpool
