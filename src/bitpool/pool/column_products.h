#pragma once

#include "bitpool/base/matrix.h"

namespace bitpool {

// What an iteration of a pooling solver does with a D×n matrix V, in one pass over V: a block of
// columns is read from memory, used twice while it is in the first-level cache, and left. The best
// instructions of the processor are used (AVX-512, AVX2 or what every processor has). Products are
// single precision; sums of kExactColumns columns are added up in double precision, so that the
// error does not grow with n. The result does not depend on where the data starts in memory.

// How many columns are added in single precision.
inline constexpr Index kExactColumns = 256;

// Σⱼ vⱼ: V1.
VectorF SumColumns(const MatrixFRef& columns);

// out = Σⱼ vⱼ (vⱼᵀ in): VVᵀ in. REQUIRES: in and out have columns.rows() values.
void MultiplyByGram(const MatrixFRef& columns, const VectorF& in, VectorF& out);

// out += Σⱼ weightⱼ vⱼ (vⱼᵀ in): V diag(weights) Vᵀ in. REQUIRES: in and out have columns.rows()
// values, weights has columns.cols().
void AddWeightedGram(const MatrixFRef& columns, const VectorF& weights, const VectorF& in,
                     VectorF& out);

}  // namespace bitpool
