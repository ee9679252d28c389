#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "bitpool/export.h"

namespace bitpool {
inline namespace v0 {

// A matrix whose columns follow each other in memory, such as Eigen::MatrixXf.
template <class Matrix>
concept ColumnMajorMatrix = requires(const Matrix& matrix) {
  { matrix.data() } -> std::convertible_to<const float*>;
  { matrix.rows() } -> std::convertible_to<std::ptrdiff_t>;
  { matrix.cols() } -> std::convertible_to<std::ptrdiff_t>;
  requires !Matrix::IsRowMajor;
};

// Vectors of one dimension, one after the other in memory that belongs to somebody else. Nothing is
// copied: the memory must stay until the call that uses them has returned.
class Vectors {
 public:
  // Throws kInvalidArgument when the numbers are not a whole number of vectors.
  BITPOOL_EXPORT Vectors(std::span<const float> numbers, std::size_t dimension);

  // A column is a vector.
  template <ColumnMajorMatrix Matrix>
  Vectors(const Matrix& matrix)  // NOLINT(google-explicit-constructor): a matrix is vectors
      : Vectors({matrix.data(), static_cast<std::size_t>(matrix.rows() * matrix.cols())},
                static_cast<std::size_t>(matrix.rows())) {}

  const float* data() const { return numbers_.data(); }
  std::size_t size() const { return dimension_ == 0 ? 0 : numbers_.size() / dimension_; }
  std::size_t dimension() const { return dimension_; }
  std::span<const float> operator[](std::size_t i) const {
    return numbers_.subspan(i * dimension_, dimension_);
  }

 private:
  std::span<const float> numbers_;
  std::size_t dimension_;
};

// The same with memory of their own, as calls return them.
class OwnedVectors {
 public:
  OwnedVectors(std::vector<float> numbers, std::size_t dimension)
      : numbers_(std::move(numbers)), dimension_(dimension) {}

  operator Vectors() const {  // NOLINT(google-explicit-constructor): usable wherever vectors are
    return {numbers_, dimension_};
  }
  const float* data() const { return numbers_.data(); }
  std::size_t size() const { return dimension_ == 0 ? 0 : numbers_.size() / dimension_; }
  std::size_t dimension() const { return dimension_; }
  std::span<const float> operator[](std::size_t i) const {
    return std::span(numbers_).subspan(i * dimension_, dimension_);
  }

 private:
  std::vector<float> numbers_;
  std::size_t dimension_;
};

}  // namespace v0
}  // namespace bitpool
