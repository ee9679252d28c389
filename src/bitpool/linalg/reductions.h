#pragma once

#include "bitpool/base/matrix.h"

namespace bitpool {

// Sums over floats in double precision, which neither overflow nor lose small values, and are the
// same wherever the data starts in memory, which Eigen's own sums are not.

// Σ aᵢbᵢ
double Dot(const float* a, const float* b, Index size);

// Σ (aᵢ − bᵢ)²
double SquaredDistance(const float* a, const float* b, Index size);

}  // namespace bitpool
