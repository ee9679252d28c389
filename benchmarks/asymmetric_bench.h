#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "bitpool/base/run_context.h"

namespace bitpool::bench {

struct AsymmetricBenchOptions {
  int bits = 64;
  int64_t codes = 10000000;
  int64_t k = 10;
  // Values of 20,000 normal centres plus noise, whose signs are the codes: bits near zero flip, 6 %
  // of all. Otherwise codes are uniform and queries normal.
  bool clustered = false;
  bool two_stage = false;   // also in two stages, with its recall
  int64_t candidates = 10;  // two-stage: scored codes per wanted result

  void Validate() const;
};

// Measures search with real queries beside exact Hamming search, a plain loop and Faiss, on the
// same codes: every way in turn for several rounds, the best counts. All figures are queries per
// second but for those in GB/s and the recall; null where something was not measured.
// docs/benchmarks.md says what each is.
nlohmann::json RunAsymmetricBench(const AsymmetricBenchOptions& options, const RunContext& context);

}  // namespace bitpool::bench
