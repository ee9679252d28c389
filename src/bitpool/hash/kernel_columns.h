#pragma once

#include <cstddef>
#include <memory>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/kernel_encoder.h"
#include "bitpool/linalg/column_source.h"

namespace bitpool {

// k of the columns of a source: kept in memory where they need no more than `memory` bytes,
// otherwise made again whenever they are read. Kernel and source must outlive what is returned.
std::unique_ptr<const ColumnSource> MakeKernelColumns(const AnchorKernel& kernel,
                                                      const ColumnSource& source, size_t memory,
                                                      const RunContext& context);

}  // namespace bitpool
