#pragma once

#include <Eigen/Core>

namespace bitpool {

// A column is a sample. A column-major D×n matrix has the same bytes as a NumPy (n, D) array, so
// nothing is copied or transposed at the boundary.
using Index = Eigen::Index;
using MatrixF = Eigen::MatrixXf;
using MatrixD = Eigen::MatrixXd;
using VectorF = Eigen::VectorXf;
using VectorD = Eigen::VectorXd;

// Arguments that are only read: a matrix, a block of columns of one, or a mapped buffer, without a
// copy.
using MatrixFRef = Eigen::Ref<const MatrixF>;
using MatrixDRef = Eigen::Ref<const MatrixD>;
using VectorFRef = Eigen::Ref<const VectorF>;
using VectorDRef = Eigen::Ref<const VectorD>;

}  // namespace bitpool
