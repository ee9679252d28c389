#pragma once

#include "bitpool/base/matrix.h"

namespace bitpool {

struct SymmetricEigen {
  VectorD values;   // the largest eigenvalues, descending
  MatrixD vectors;  // their eigenvectors, orthonormal columns
};

// The `count` largest eigenvalues of a symmetric matrix, of which only the lower triangle is read,
// and their eigenvectors. The largest entry of each eigenvector (the first of several) is positive,
// so that the signs are the same in every run. REQUIRES: square, finite, 0 <= count <= rows.
SymmetricEigen ComputeSymmetricEigen(MatrixD matrix, Index count);

}  // namespace bitpool
