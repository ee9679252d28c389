#include "bitpool/http/work_queue.h"

#include <fmt/format.h>

#include <cstdint>
#include <system_error>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {

WorkQueue::WorkQueue(int threads, size_t capacity) : capacity_(capacity) {
  threads_.reserve(static_cast<size_t>(threads));
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  } catch (const std::system_error& error) {
    Finish();  // those that could be started
    throw Error(ErrorCode::kResources, fmt::format("only {} of {} threads could be started: {}",
                                                   threads_.size(), threads, error.what()));
  }
}

void WorkQueue::Finish() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

bool WorkQueue::Add(std::function<void()> work, size_t capacity) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (ending_ || queue_.size() >= capacity) return false;
    queue_.push_back(std::move(work));
    wake = sleeping_ > 0;
  }
  if (wake) more_.notify_one();
  return true;
}

bool WorkQueue::TryPost(std::function<void()> work) { return Add(std::move(work), capacity_); }

bool WorkQueue::Post(std::function<void()> work) { return Add(std::move(work), SIZE_MAX); }

size_t WorkQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void WorkQueue::Work() {
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      ++sleeping_;
      more_.wait(lock, [this] { return ending_ || !queue_.empty(); });
      --sleeping_;
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace bitpool
