#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/index/code_index.h"
#include "bitpool/index/code_segment.h"

namespace bitpool {

// Builds a segment in the layout the kind asks for. kAuto builds both, asks both for the neighbours
// of some of the codes, and keeps the faster: results are the same, so only time is at stake. Small
// segments are always scanned. REQUIRES: as CodeSegment::Build.
std::shared_ptr<const CodeSegment> ChooseSegment(IndexKind kind, int bits,
                                                 std::span<const uint8_t> rows,
                                                 std::vector<int64_t> ids,
                                                 const RunContext& context);

}  // namespace bitpool
