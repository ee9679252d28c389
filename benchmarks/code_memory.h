#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/base/run_context.h"

namespace bitpool::bench {

// Packed codes whose bits are 0 or 1 with the same probability.
std::vector<uint8_t> DrawUniformCodes(int bits, size_t count, Random& random);

// Reads every byte once, in vectors, shared among the threads: as fast as the memory gives them.
// Returns something that depends on all of them.
uint64_t ReadAll(std::span<const uint8_t> bytes, const RunContext& context);

}  // namespace bitpool::bench
