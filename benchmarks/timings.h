#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/base/stopwatch.h"

namespace bitpool::bench {

// Several jobs, in turn for every round; the best time of each counts.
class Timings {
 public:
  void Add(std::string name, std::function<void()> run) {
    jobs_.push_back({std::move(name), std::move(run), std::numeric_limits<double>::infinity()});
  }

  void Run(int rounds, const RunContext& context) {
    Progress progress =
        context.StartProgress("measuring", "runs", static_cast<uint64_t>(rounds) * jobs_.size());
    for (int round = 0; round < rounds; ++round) {
      for (Job& job : jobs_) {
        context.ThrowIfStopped();
        const Stopwatch watch;
        job.run();
        job.best = std::min(job.best, watch.seconds());
        progress.Advance();
      }
    }
  }

  // Seconds. REQUIRES: a job of this name.
  double best(const std::string& name) const {
    return std::ranges::find(jobs_, name, &Job::name)->best;
  }

 private:
  struct Job {
    std::string name;
    std::function<void()> run;
    double best;
  };
  std::vector<Job> jobs_;
};

}  // namespace bitpool::bench
