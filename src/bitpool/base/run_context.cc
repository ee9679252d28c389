#include "bitpool/base/run_context.h"

#include <fmt/format.h>

#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {

RunContext::RunContext(RunOptions options) : options_(std::move(options)) {
  if (options_.threads < 0 || options_.threads > kMostThreads) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("threads: expected 0 (all) to {}, got {}",
                                                         kMostThreads, options_.threads));
  }
  pool_ = std::make_shared<TaskPool>(options_.threads);
}

RunContext RunContext::WithoutStop() const {
  RunContext copy = *this;
  copy.options_.stop = {};
  return copy;
}

RunContext RunContext::WithoutProgress() const {
  RunContext copy = *this;
  copy.options_.progress = nullptr;
  return copy;
}

RunContext RunContext::WithSeed(uint64_t seed) const {
  RunContext copy = *this;
  copy.options_.seed = seed;
  return copy;
}

void RunContext::ThrowIfStopped() const {
  if (stopped()) throw Error(ErrorCode::kCancelled, "interrupted");
}

Progress RunContext::StartProgress(std::string task, std::string unit, uint64_t total) const {
  return {options_.progress.get(), std::move(task), std::move(unit), total};
}

}  // namespace bitpool
