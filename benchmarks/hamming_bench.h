#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "bitpool/base/run_context.h"

namespace bitpool::bench {

struct HammingBenchOptions {
  int bits = 64;
  int64_t codes = 10000000;
  int64_t k = 10;
  bool clustered =
      false;  // 20,000 random centres, each bit flipped with probability 0.06; otherwise uniform

  void Validate() const;
};

// Measures exact Hamming search, ours and its peers, side by side on the same codes: every way is
// run in turn for several rounds, and the best round counts. All figures are queries per second but
// for those in GB/s; null where a peer is not there. docs/benchmarks.md says what each is.
nlohmann::json RunHammingBench(const HammingBenchOptions& options, const RunContext& context);

}  // namespace bitpool::bench
