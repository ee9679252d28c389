#pragma once

#include "bitpool/base/matrix.h"
#include "bitpool/base/random.h"

namespace bitpool {

// The matrix with orthonormal columns that is nearest to a square or tall matrix M in the Frobenius
// norm, U·Vᵀ of M = U·S·Vᵀ. With M = B·Aᵀ it is the Q that minimises ‖B − QA‖ (orthogonal
// Procrustes). Its determinant may be −1: reflections are allowed, not only rotations. Where M does
// not have full rank, the nearest matrix is not unique and one of them is given. Throws
// kInvalidArgument for a matrix that is wide or not finite.
MatrixF NearestOrthogonal(const MatrixFRef& matrix);

// An n×n orthogonal matrix, uniformly distributed over all of them, reflections included.
MatrixF RandomOrthogonal(Index n, Random& random);

}  // namespace bitpool
