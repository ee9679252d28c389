#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bitpool {

// Threads that do what they are given, in order, with a limit to how much may wait.
class WorkQueue {
 public:
  // Throws kResources when the system gives fewer threads.
  WorkQueue(int threads, size_t capacity);
  ~WorkQueue() { Finish(); }
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // False, and nothing is done, when too much is waiting. REQUIRES: `work` throws nothing.
  bool TryPost(std::function<void()> work);
  // The same without a limit, for the next step of what has begun. False after Finish.
  bool Post(std::function<void()> work);
  // Takes no more work, does what was given, and ends the threads.
  void Finish();

  size_t waiting() const;

 private:
  bool Add(std::function<void()> work, size_t capacity);
  void Work();

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> queue_;
  size_t sleeping_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace bitpool
