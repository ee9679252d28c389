#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "bitpool/base/run_context.h"
#include "bitpool/catalog/catalogue.h"

namespace bitpool {

// Waits for what is away or busy, and says so.
class Patience {
 public:
  // `tell` is called with what is waited for, and may be empty.
  Patience(std::function<void(const std::string&)> tell, const RunContext& context)
      : tell_(std::move(tell)), context_(context) {}

  // Does a job again and again while the database is away, or others are changing it. The job must
  // be one that may be done twice, because a commit whose outcome was never learned may have been
  // done.
  template <class Job>
  auto Try(const Job& job) const -> decltype(job()) {
    for (bool told = false;; told = true) {
      try {
        return job();
      } catch (const CatalogueAway& away) {
        if (context_.stopped()) throw;
        Wait(away, told);
      } catch (const CatalogueBusy& busy) {
        if (context_.stopped()) throw;
        Wait(busy, told);
      }
    }
  }

  void Tell(const std::string& what) const {
    if (tell_) tell_(what);
  }
  static void Rest() { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }

 private:
  void Wait(const Error& reason, bool told) const {
    if (!told) Tell(std::string(reason.what()) + "; waiting for it");
    Rest();
  }

  std::function<void(const std::string&)> tell_;
  const RunContext& context_;
};

}  // namespace bitpool
