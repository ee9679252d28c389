#include "bitpool/linalg/column_source.h"

#include <fmt/format.h>

#include <cmath>

#include "bitpool/base/error.h"

namespace bitpool {

ColumnsView ColumnSource::Read(Index first, Index count, MatrixF& buffer) const {
  if (first < 0 || count < 0 || first > size() || count > size() - first) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} columns from number {} on: the source has {}", count, first, size()));
  }
  return ReadColumns(first, count, buffer);
}

MatrixColumns::MatrixColumns(const MatrixFRef& matrix)
    : matrix_(matrix.data(), matrix.rows(), matrix.cols(),
              Eigen::OuterStride<>(matrix.outerStride())) {}

ColumnsView MatrixColumns::ReadColumns(Index first, Index count, MatrixF& /*buffer*/) const {
  const Index stride = matrix_.outerStride();
  return {matrix_.data() + first * stride, matrix_.rows(), count, Eigen::OuterStride<>(stride)};
}

MatrixF GatherColumns(const ColumnSource& source, const std::vector<Index>& columns) {
  MatrixF gathered(source.dimension(), static_cast<Index>(columns.size()));
  MatrixF buffer;
  Index next = 0;
  for (const Index column : columns) gathered.col(next++) = source.Read(column, 1, buffer).col(0);
  return gathered;
}

ColumnsView ViewOf(const MatrixF& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), Eigen::OuterStride<>(matrix.rows())};
}

void RequireFinite(const MatrixFRef& block, Index first) {
  for (Index column = 0; column < block.cols(); ++column) {
    for (Index row = 0; row < block.rows(); ++row) {
      if (std::isfinite(block(row, column))) continue;
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("column {}, row {}: expected a finite number, got {}", first + column,
                              row, block(row, column)));
    }
  }
}

}  // namespace bitpool
