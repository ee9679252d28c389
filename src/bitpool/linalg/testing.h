#pragma once

#include <cstring>
#include <string>

#include "bitpool/base/error.h"
#include "bitpool/base/matrix.h"
#include "bitpool/linalg/column_source.h"

// Shared by the tests of this room.
namespace bitpool {

// A source that fills the buffer, as one over a file does.
class CopiedColumns : public ColumnSource {
 public:
  explicit CopiedColumns(const MatrixF& matrix) : matrix_(matrix) {}
  Index dimension() const override { return matrix_.rows(); }
  Index size() const override { return matrix_.cols(); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override {
    buffer = matrix_.middleCols(first, count);
    return ViewOf(buffer);
  }

  const MatrixF& matrix_;
};

// Equal to the last bit.
template <class Matrix>
bool SameBits(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 ||
          std::memcmp(a.data(), b.data(), sizeof(*a.data()) * static_cast<size_t>(a.size())) == 0);
}

// The message of the kInvalidArgument that a call throws; what it threw instead otherwise.
template <class Call>
std::string RefusalOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInvalidArgument) return error.what();
    return std::string("(another error) ") + error.what();
  }
  return "(no error)";
}

}  // namespace bitpool
