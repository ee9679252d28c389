#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string_view>

namespace bitpool {

// How far one task of a job has come.
struct ProgressUpdate {
  std::string_view task;  // what is being done, such as "extracting"
  std::string_view unit;  // what is counted, such as "images"
  uint64_t done = 0;
  uint64_t total = 0;          // 0: not known
  bool ended = false;          // the last update of the task, complete or not
  std::string_view note = {};  // how well it goes, such as "loss 3.21"; empty: nothing to say
};

inline namespace v0 {

// How a job is run. A default one takes all cores and is silent.
struct Run {
  int threads = 0;    // 0: as many as the process may use
  uint64_t seed = 1;  // the same seed gives the same result, at any number of threads
  // A job that is asked to stop ends soon: training keeps what it has learned so far, everything
  // else throws kCancelled.
  std::stop_token stop = {};
  // Called from any thread, often; empty: nobody watches.
  std::function<void(const ProgressUpdate&)> progress = {};
};

}  // namespace v0
}  // namespace bitpool
