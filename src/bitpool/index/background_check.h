#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace bitpool {

// A check that runs in a thread of its own from the first use of what it checks, so that nobody
// waits for it.
class BackgroundCheck {
 public:
  // `work` throws what is wrong; it should end soon when the token asks it to.
  explicit BackgroundCheck(std::function<void(std::stop_token)> work) : work_(std::move(work)) {}

  // Starts the check on the first call. Throws what it has found so far.
  void Touch();
  // The same, and waits until the check has ended.
  void Wait();
  // Whether it has ended and found nothing.
  bool passed() const {
    return ended_.load(std::memory_order_acquire) && !failed_.load(std::memory_order_acquire);
  }

 private:
  std::function<void(std::stop_token)> work_;
  std::once_flag once_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> ended_ = false;
  std::exception_ptr failure_;  // set before failed_
  std::jthread thread_;         // last: ends before the others go
};

}  // namespace bitpool
