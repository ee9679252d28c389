#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bitpool/base/run_context.h"

namespace bitpool::bench {

struct TrainingBenchOptions {
  double size = 1;  // share of the usual number of samples, for a quick look
  int rounds = 3;   // the best counts

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Training and encoding beside the peers and the bare matrix products they need, all in one run.
nlohmann::json RunTrainingBench(const TrainingBenchOptions& options, const RunContext& context);

}  // namespace bitpool::bench
