#pragma once

#include "bitpool/index/code_segment.h"
#include "bitpool/io/mapping_guard.h"

namespace bitpool {

// Throws kIo when the file that a segment lies in was cut off by someone else: what was found in it
// may come from zeros. Called before that is given out.
inline void RequireWhole(const CodeSegment& segment) {
  const SegmentTables* tables = segment.tables();
  RequireWhole(std::as_bytes(tables == nullptr ? segment.blocks() : tables->parts().rows));
}

}  // namespace bitpool
