#include "bitpool/linalg/procrustes.h"

#include <fmt/format.h>

#include <Eigen/QR>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/lapack.h"

namespace bitpool {

MatrixF NearestOrthogonal(const MatrixFRef& matrix) {
  if (matrix.rows() < matrix.cols()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a {}×{} matrix cannot have orthonormal columns; transpose it",
                            matrix.rows(), matrix.cols()));
  }
  RequireFinite(matrix, 0);
  const auto rows = static_cast<int>(matrix.rows()), cols = static_cast<int>(matrix.cols());
  if (cols == 0) return {rows, 0};
  MatrixD copy = matrix.cast<double>();
  MatrixD u(rows, cols), vt(cols, cols);
  VectorD singular(cols);
  std::vector<int> ints(8 * static_cast<size_t>(cols));
  int info = 0;
  const auto call = [&](double* work, const int& work_length) {
    dgesdd_("S", &rows, &cols, copy.data(), &rows, singular.data(), u.data(), &rows, vt.data(),
            &cols, work, &work_length, ints.data(), &info, 1);
  };
  double work_size = 0;
  call(&work_size, -1);
  std::vector<double> work(static_cast<size_t>(work_size));
  call(work.data(), static_cast<int>(work.size()));
  if (info != 0) {
    throw Error(ErrorCode::kInternal,
                fmt::format("singular values of a {}×{} matrix: LAPACK's dgesdd returned {}", rows,
                            cols, info));
  }
  return (u * vt).cast<float>();
}

MatrixF RandomOrthogonal(Index n, Random& random) {
  if (n < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("size of an orthogonal matrix: expected 0 or more, got {}", n));
  }
  const MatrixD normal = random.NormalMatrix(n, n).cast<double>();
  const Eigen::HouseholderQR<MatrixD> qr(normal);
  MatrixD q = qr.householderQ();
  // The Q that is uniform is that of the decomposition whose R has a positive diagonal.
  for (Index i = 0; i < n; ++i) {
    if (qr.matrixQR()(i, i) < 0) q.col(i) = -q.col(i);
  }
  return q.cast<float>();
}

}  // namespace bitpool
