#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/index/code_index.h"
#include "bitpool/index/code_segment.h"

namespace bitpool {

// Builds a segment in the layout the kind asks for. kAuto builds tables, looks up the neighbours of
// some of the codes, and counts what that takes (see search_cost.h): it keeps the tables where a
// scan of blocks costs more than twice as much. Answers are the same, so only time is at stake, but
// the choice depends on nothing except the codes, so that the same codes give the same file. Small
// segments are always scanned. REQUIRES: as CodeSegment::Build.
std::shared_ptr<const CodeSegment> ChooseSegment(IndexKind kind, int bits,
                                                 std::span<const uint8_t> rows,
                                                 std::vector<int64_t> ids,
                                                 const RunContext& context);

}  // namespace bitpool
