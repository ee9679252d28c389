#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "bitpool/base/progress.h"
#include "bitpool/base/random.h"
#include "bitpool/base/task_pool.h"

namespace bitpool {

// More than any machine has, and few enough that a slip of the keyboard does not take its memory.
inline constexpr int kMostThreads = 4096;

struct RunOptions {
  int threads = 0;            // 0: as many as the process may use; at most kMostThreads
  uint64_t seed = 1;          // the same seed gives the same result, at any number of threads
  std::stop_token stop = {};  // asks long jobs to end early
  std::shared_ptr<ProgressSink> progress = {};  // null: nobody watches
};

// Everything a long job needs from whoever runs it. Cheap to copy; copies share the threads.
class RunContext {
 public:
  explicit RunContext(RunOptions options = {});

  int threads() const { return pool_->threads(); }
  uint64_t seed() const { return options_.seed; }
  TaskPool& pool() const { return *pool_; }

  // A generator for the part of a job with this number; parts do not disturb each other.
  Random MakeRandom(uint64_t stream = 0) const { return Random(options_.seed).Fork(stream); }

  // The same, for what must be finished after a stop was asked for.
  RunContext WithoutStop() const;
  // The same for the parts of a job that reports its own progress.
  RunContext WithoutProgress() const;
  RunContext WithSeed(uint64_t seed) const;

  bool stopped() const { return options_.stop.stop_requested(); }

  // Throws Error with kCancelled when a stop was asked for.
  void ThrowIfStopped() const;

  // TaskPool::ParallelFor that also looks at the stop token before every range.
  template <class Body>
  void ParallelFor(size_t count, size_t grain, const Body& body) const {
    pool_->ParallelFor(count, grain, [&](size_t begin, size_t end) {
      ThrowIfStopped();
      body(begin, end);
    });
  }

  // Starts a task that reports to the sink, for example StartProgress("encoding", "images", 5000).
  Progress StartProgress(std::string task, std::string unit, uint64_t total) const;

 private:
  RunOptions options_;
  std::shared_ptr<TaskPool> pool_;
};

}  // namespace bitpool
