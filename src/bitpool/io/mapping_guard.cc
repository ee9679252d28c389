#include "bitpool/io/mapping_guard.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

Error CutError(const std::string& name) {
  return {ErrorCode::kIo, name, "was cut off by someone else while it was being read"};
}

// A mapping. The handler of SIGBUS can wait for nobody: it reads the two ends between two looks at
// the version, and passes over a slot that is being changed. The slot it was called for is not.
struct Slot {
  std::atomic<uint32_t> version = 0;  // odd while the ends are being changed
  std::atomic<uintptr_t> begin = 0;
  std::atomic<uintptr_t> end = 0;
  std::atomic<bool> cut = false;
  std::atomic<bool> told = false;  // an error about it has been reported
  // Not used by the handler.
  int descriptor = -1;
  std::string name;

  void SetEnds(uintptr_t new_begin, uintptr_t new_end) {
    version.fetch_add(1);
    begin.store(new_begin);
    end.store(new_end);
    cut.store(false);
    told.store(false);
    version.fetch_add(1);
  }
  bool Contains(uintptr_t address) const {
    const uint32_t before = version.load();
    const bool inside = begin.load() <= address && address < end.load();
    return inside && before % 2 == 0 && version.load() == before;
  }
  bool in_use() const { return end.load() != 0; }
  bool IsCut() const {
    if (cut.load()) return true;
    // The rest of the last page reads as zeros without a signal.
    struct stat status = {};
    return fstat(descriptor, &status) == 0 &&
           static_cast<size_t>(status.st_size) < end.load() - begin.load();
  }
  void RequireWhole() {
    if (!IsCut()) return;
    told.store(true);
    throw CutError(name);
  }
};

// All mappings of the process. Slots are used again and never freed.
class Registry {
 public:
  static Registry& Get() {
    static auto* const registry = new Registry;  // outlives whatever reads when the process ends
    return *registry;
  }

  void Add(std::string name, int descriptor, void* data, size_t length) {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) AddChunk();
    Slot* slot = free_.back();
    free_.pop_back();
    slot->name = std::move(name);
    slot->descriptor = descriptor;
    const auto begin = reinterpret_cast<uintptr_t>(data);
    slot->SetEnds(begin, begin + length);
  }

  void Remove(void* data) noexcept {
    const std::scoped_lock lock(mutex_);
    Slot* slot = Find(reinterpret_cast<uintptr_t>(data));
    if (slot == nullptr) return;
    if (!slot->told.load() && slot->IsCut()) untold_.swap(slot->name);
    munmap(data, slot->end.load() - slot->begin.load());
    close(slot->descriptor);
    slot->SetEnds(0, 0);
    free_.push_back(slot);  // there is room: it came from here
  }

  // Slots fill from the front, so that this looks at as many as files are mapped.
  Slot* Find(uintptr_t address) {
    for (size_t i = 0; i < chunk_count_.load(); ++i) {
      for (Slot& slot : *chunks_[i]) {
        if (slot.Contains(address)) return &slot;
        if (slot.version.load() == 0) return nullptr;  // never used, and neither is any after it
      }
    }
    return nullptr;
  }

  void RequireAllWhole() {
    const std::scoped_lock lock(mutex_);
    if (!untold_.empty()) throw CutError(std::exchange(untold_, {}));
    for (size_t i = 0; i < chunk_count_.load(); ++i) {
      for (Slot& slot : *chunks_[i]) {
        if (slot.in_use()) slot.RequireWhole();
      }
    }
  }

 private:
  static constexpr size_t kChunkSlots = 256, kMostChunks = 4096;
  using Chunk = std::array<Slot, kChunkSlots>;

  Registry() {
    struct sigaction action = {};
    action.sa_sigaction = Handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before_);
  }

  void AddChunk() {
    const size_t count = chunk_count_.load();
    if (count == kMostChunks) throw Error(ErrorCode::kResources, "too many files are mapped");
    free_.reserve((count + 1) * kChunkSlots);
    chunks_[count] = std::make_unique<Chunk>();
    for (Slot& slot : *chunks_[count]) free_.push_back(&slot);
    std::ranges::reverse(free_);  // it was empty: the first slot is given out first
    chunk_count_.store(count + 1);
  }

  // A file is cut at its end, so what lies after the page is gone as well.
  bool FillWithZeros(Slot& slot, uintptr_t address) const {
    slot.cut.store(true);
    const uintptr_t page = address / page_size_ * page_size_;
    void* place = reinterpret_cast<void*>(page);  // NOLINT(performance-no-int-to-ptr)
    return mmap(place, slot.end.load() - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                -1, 0) != MAP_FAILED;
  }

  static void Handle(int signal, siginfo_t* info, void* context) {
    const int error_number = errno;
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    Slot* slot = Get().Find(address);
    const bool filled = slot != nullptr && Get().FillWithZeros(*slot, address);
    errno = error_number;
    if (!filled) Get().PassOn(signal, info, context);
  }

  void PassOn(int signal, siginfo_t* info, void* context) const {
    if ((before_.sa_flags & SA_SIGINFO) != 0) {
      before_.sa_sigaction(signal, info, context);
    } else if (before_.sa_handler == SIG_DFL || before_.sa_handler == SIG_IGN) {
      sigaction(signal, &before_, nullptr);  // the signal comes again at once
    } else {
      before_.sa_handler(signal);
    }
  }

  const uintptr_t page_size_ = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  std::mutex mutex_;
  std::array<std::unique_ptr<Chunk>, kMostChunks> chunks_;
  std::atomic<size_t> chunk_count_ = 0;
  std::vector<Slot*> free_;
  std::string untold_;  // the name of a file that was cut, and closed
  struct sigaction before_ = {};
};

}  // namespace

void GuardMapping(std::string name, int descriptor, void* data, size_t length) {
  try {
    Registry::Get().Add(std::move(name), descriptor, data, length);
  } catch (...) {
    munmap(data, length);
    close(descriptor);
    throw;
  }
}

void EndMapping(void* data) noexcept { Registry::Get().Remove(data); }

void RequireWhole(std::span<const std::byte> bytes) {
  // The mapping cannot go away while its bytes are in use, so the slot is still its own.
  Slot* slot = Registry::Get().Find(reinterpret_cast<uintptr_t>(bytes.data()));
  if (slot != nullptr) slot->RequireWhole();
}

void RequireMappedFilesWhole() { Registry::Get().RequireAllWhole(); }

}  // namespace bitpool
