#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace bitpool {

// Which slots of a segment were removed, and when. One writer and many readers at a time; a reader
// asks as of the moment its search began, so a search never sees half of a change. Costs nothing
// until the first removal.
class Tombstones {
 public:
  explicit Tombstones(size_t slots) : slots_(slots) {}
  ~Tombstones() { delete[] words_.load(); }
  Tombstones(const Tombstones&) = delete;
  Tombstones& operator=(const Tombstones&) = delete;

  // REQUIRES: slot < slots and not removed; versions do not decrease; one caller at a time.
  void Remove(size_t slot, uint64_t version);

  // Takes the removal of a slot back, if there is one; its version must not have been seen by
  // anyone. One caller at a time, the one that removes.
  void Restore(size_t slot) noexcept;

  // Whether the slot was removed at or before this version.
  bool Removed(size_t slot, uint64_t version) const {
    const std::atomic<uint64_t>* words = words_.load(std::memory_order_acquire);
    if (words == nullptr) return false;
    if ((words[slot / 64].load(std::memory_order_relaxed) >> (slot % 64) & 1) == 0) return false;
    return RemovedBefore(slot, version);
  }

  // How many have been removed by now.
  size_t count() const {
    const std::shared_lock lock(mutex_);
    return versions_.size();
  }

 private:
  bool RemovedBefore(size_t slot, uint64_t version) const;

  size_t slots_;
  std::atomic<std::atomic<uint64_t>*> words_ =
      nullptr;  // one bit per slot: maybe removed, ask versions_
  mutable std::shared_mutex mutex_;
  std::unordered_map<size_t, uint64_t> versions_;
};

}  // namespace bitpool
