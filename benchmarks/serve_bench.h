#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bitpool/base/run_context.h"

namespace bitpool::bench {

struct ServeBenchOptions {
  int64_t codes = 1'000'000;  // of a library with 64 bits, in clusters as those of `hamming`
  int64_t k = 10;
  int connections = 64;
  double seconds = 3;   // for every measurement
  int rounds = 3;       // of all measurements in turn; the best counts
  std::string library;  // a library with a coder; empty: uploads are not measured
  std::string picture;  // to upload to it

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

// Measures `bitpool serve` over loopback beside a bare Beast server that says hello, with clients
// in the same process and on the same cores: requests per second of searches by id, the time of
// uploads beyond the same search without a network, and the memory under idle connections and
// uploads. docs/benchmarks.md says what each figure is.
nlohmann::json RunServeBench(const ServeBenchOptions& options, const RunContext& context);

}  // namespace bitpool::bench
