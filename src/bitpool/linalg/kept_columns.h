#pragma once

#include <cstddef>
#include <memory>

#include "bitpool/base/run_context.h"
#include "bitpool/linalg/column_source.h"

namespace bitpool {

// For a source that computes its columns whenever they are read: the columns, computed once and
// kept in memory, where they take no more than this many bytes, and otherwise the source itself.
// Both have the same values.
std::unique_ptr<const ColumnSource> KeepIfSmall(std::unique_ptr<const ColumnSource> source,
                                                size_t memory, const RunContext& context);

}  // namespace bitpool
