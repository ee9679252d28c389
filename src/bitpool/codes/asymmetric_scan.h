#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bitpool/codes/code_blocks.h"
#include "bitpool/codes/penalty_bound.h"
#include "bitpool/codes/real_queries.h"

namespace bitpool {

// At most this many queries share a pass over the codes.
inline constexpr size_t kRealScanGroup = 4;

// One query of a group: what to rule out, and where to report the others.
struct RealScanRequest {
  const PenaltyBound* bound;
  uint32_t* hits;    // room for every scanned code
  size_t hit_count;  // out
};

// Finds, for each request, the positions of the codes that are not ruled out, in their order. Lanes
// that hold no code are reported like any other. Uses the best instructions this machine has; some
// let a few more codes through than others, but none rules out a code that reaches the score.
// REQUIRES: requests.size() <= kRealScanGroup; codes of the length of the queries.
void ScanRealBlocks(const uint8_t* blocks, size_t block_count, std::span<RealScanRequest> requests);

// Whether these instructions look up seven bits at once, which is what PenaltyBound then prepares.
bool ScansSevenBits();

}  // namespace bitpool
