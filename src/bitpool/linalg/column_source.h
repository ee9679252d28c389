#pragma once

#include <concepts>
#include <vector>

#include "bitpool/base/matrix.h"

namespace bitpool {

// Some columns of a source, for reading only. Converts to MatrixFRef without a copy.
using ColumnsView = Eigen::Map<const MatrixF, Eigen::Unaligned, Eigen::OuterStride<>>;

// Samples, one per column, that are read in blocks, so that trainers work alike on a matrix in
// memory and on files larger than memory. Reading changes nothing and may be done from many threads
// at once; the same columns always have the same values.
class ColumnSource {
 public:
  virtual ~ColumnSource() = default;

  virtual Index dimension() const = 0;
  virtual Index size() const = 0;  // the number of columns

  // Columns [first, first + count). They lie either in the source's own memory or in `buffer`,
  // whose size and content are the source's to choose; the view is valid until either is destroyed
  // or `buffer` is used again. Throws kInvalidArgument when the range is not inside the source.
  ColumnsView Read(Index first, Index count, MatrixF& buffer) const;

 private:
  // REQUIRES: 0 <= first, 0 <= count, first + count <= size().
  virtual ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const = 0;
};

// The columns of a matrix in memory, or of a block of one, which are never copied and must outlive
// this.
class MatrixColumns : public ColumnSource {
 public:
  // An expression that has no memory of its own (such as 2 * x) must be put into a matrix first.
  explicit MatrixColumns(const MatrixFRef& matrix);
  template <std::same_as<MatrixF> Temporary>     // so never a copy or a move: no overload is hidden
  explicit MatrixColumns(Temporary&&) = delete;  // NOLINT(bugprone-forwarding-reference-overload)

  Index dimension() const override { return matrix_.rows(); }
  Index size() const override { return matrix_.cols(); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override;

  ColumnsView matrix_;
};

// A matrix of the columns with these numbers, in this order.
MatrixF GatherColumns(const ColumnSource& source, const std::vector<Index>& columns);

// The view of a whole matrix, for sources that fill the buffer.
ColumnsView ViewOf(const MatrixF& matrix);

// Throws kInvalidArgument that names the column (counted from `first`) and the row of the first
// value that is infinite or not a number, if there is one.
void RequireFinite(const MatrixFRef& block, Index first);

}  // namespace bitpool
