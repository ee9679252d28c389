#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

namespace bitpool {

// Runs loops on a fixed number of threads (oneTBB underneath).
//
// Work is cut into chunks of a size the caller chooses, never by the number of threads, so a result
// that depends only on the chunks is the same at any number of threads. Loops may be nested and one
// pool may be used from many threads.
//
// The library's own copy of OpenBLAS uses one thread (blas.h): all parallelism is the pool's, which
// avoids threads that fight for cores and sums whose order depends on the machine.
class TaskPool {
 public:
  // 0: as many threads as the process may use.
  explicit TaskPool(int threads = 0);
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  int threads() const { return threads_; }

  // Calls body(begin, end) for consecutive ranges of at most `grain` numbers that cover [0, count).
  // When bodies throw, the exception of the lowest range comes out, always the same one; ranges
  // after it may not have run. REQUIRES: grain > 0
  template <class Body>
  void ParallelFor(size_t count, size_t grain, const Body& body) {
    Loop<Body> loop{.body = body, .count = count, .grain = grain};
    const size_t chunks = count / grain + (count % grain != 0 ? 1 : 0);
    loop.published.store(true, std::memory_order_release);
    RunChunks(chunks, &Loop<Body>::RunChunk, &loop);
    (void)loop.finished.load(std::memory_order_acquire);
    if (loop.exception) std::rethrow_exception(loop.exception);
  }

  // Sums in a fixed order: compute(partial, begin, end) fills a partial result for each range in
  // parallel, then merge(partial) is called for every range, in order, on the calling thread. At
  // most 2 × threads() partials are alive; they are made by copying `blank` and reused, so compute
  // must overwrite what it finds. REQUIRES: grain > 0
  template <class Partial, class Compute, class Merge>
  void OrderedReduce(size_t count, size_t grain, const Partial& blank, const Compute& compute,
                     const Merge& merge) {
    const size_t chunks = count / grain + (count % grain != 0 ? 1 : 0);
    const size_t wave = std::min(chunks, 2 * static_cast<size_t>(threads_));
    std::vector<Partial> partials(wave, blank);
    for (size_t first = 0; first < chunks; first += wave) {
      const size_t alive = std::min(wave, chunks - first);
      ParallelFor(alive, 1, [&](size_t begin, size_t /*end*/) {
        const size_t start = (first + begin) * grain;
        compute(partials[begin], start, start + std::min(grain, count - start));
      });
      for (size_t i = 0; i < alive; ++i) merge(partials[i]);
    }
  }

 private:
  // One loop in flight. The two atomics order what the caller wrote before the bodies and the
  // bodies before the caller. oneTBB does so too, but out of the thread sanitizer's sight.
  template <class Body>
  struct Loop {
    const Body& body;
    size_t count;
    size_t grain;
    std::atomic<bool> published = false;
    std::atomic<size_t> finished = 0;
    std::atomic<size_t> first_failed = std::numeric_limits<size_t>::max();
    std::mutex mutex = {};
    std::exception_ptr exception = nullptr;

    static void RunChunk(void* self, size_t chunk) noexcept {
      auto& loop = *static_cast<Loop*>(self);
      (void)loop.published.load(std::memory_order_acquire);
      if (chunk < loop.first_failed.load(std::memory_order_relaxed)) {
        const size_t begin = chunk * loop.grain;
        try {
          loop.body(begin, begin + std::min(loop.grain, loop.count - begin));
        } catch (...) {
          loop.RecordFailure(chunk, std::current_exception());
        }
      }
      loop.finished.fetch_add(1, std::memory_order_release);
    }

    void RecordFailure(size_t chunk, const std::exception_ptr& failure) {
      const std::lock_guard lock(mutex);
      if (chunk > first_failed.load(std::memory_order_relaxed)) return;
      first_failed.store(chunk, std::memory_order_relaxed);
      exception = failure;
    }
  };

  // Calls run(state, chunk) for every chunk in [0, chunks).
  void RunChunks(size_t chunks, void (*run)(void*, size_t) noexcept, void* state);

  struct Arena;
  int threads_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace bitpool
