#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "bitpool/http/byte_budget.h"
#include "bitpool/http/http_server.h"
#include "bitpool/http/work_queue.h"

namespace bitpool {

// What the connections of a server share.
struct ServerState {
  ServerState(const HttpServerOptions& options, HttpHandler& answering)
      : limits(options.limits),
        handler(answering),
        budget(limits.bytes_in_flight),
        quick(options.quick_threads, static_cast<size_t>(limits.queue)),
        slow(options.slow_threads, static_cast<size_t>(limits.queue)) {}

  WorkQueue& queue(Lane lane) { return lane == Lane::kQuick ? quick : slow; }
  std::string NextRequestId();

  const HttpLimits limits;
  HttpHandler& handler;
  ByteBudget budget;
  std::atomic<bool> stopping = false;
  std::atomic<int64_t> connections = 0;
  std::atomic<uint64_t> accepted = 0;
  std::atomic<uint64_t> refused_busy = 0;
  std::atomic<uint64_t> refused_malformed = 0;
  std::atomic<uint64_t> timed_out = 0;
  std::atomic<uint64_t> last_request = 0;
  // Last: their threads end first.
  WorkQueue quick;
  WorkQueue slow;
};

}  // namespace bitpool
