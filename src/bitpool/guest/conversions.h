#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/codes.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/run.h"
#include "bitpool/vectors.h"

// Converts what guests hold into the form that the rooms know, and back.
namespace bitpool {

// Contexts are kept where a guest asks for nothing special, so that a single search does not start
// new threads.
RunContext ContextOf(const Run& run);

// The columns of the guest's own memory.
ColumnsView ColumnsOf(const Vectors& vectors);
OwnedVectors VectorsOf(const MatrixF& columns);

BinaryCodes BinaryCodesOf(const Codes& codes);
Codes CodesOf(BinaryCodes codes);

}  // namespace bitpool
