#include "bitpool/index/background_check.h"

namespace bitpool {

void BackgroundCheck::Touch() {
  std::call_once(once_, [this] {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      try {
        work_(stop);
      } catch (...) {
        failure_ = std::current_exception();
        failed_.store(!stop.stop_requested(), std::memory_order_release);
      }
      ended_.store(true, std::memory_order_release);
      ended_.notify_all();
    });
  });
  if (failed_.load(std::memory_order_acquire)) std::rethrow_exception(failure_);
}

void BackgroundCheck::Wait() {
  Touch();
  ended_.wait(false, std::memory_order_acquire);
  Touch();
}

}  // namespace bitpool
