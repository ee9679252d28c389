#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "bitpool/base/run_context.h"

namespace bitpool::bench {

struct LibraryBenchOptions {
  int64_t pictures = 1'000'000;

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

// What a large library costs: seconds and the most memory of indexing its pictures, of an update in
// which nothing changed, of one query, of finding the candidates for duplicates, and of a search
// for duplicates. There are no pictures: their bytes and codes of 64 bits are drawn at random,
// every tenth is near another one, and what would be compared cannot be read. So the time is that
// of the library alone, and the thousand pictures that a comparison has in memory, 0.2 GB, come on
// top.
nlohmann::json RunLibraryBench(const LibraryBenchOptions& options, const RunContext& context);

}  // namespace bitpool::bench
