#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/linalg/column_source.h"

// Between NumPy's arrays and what the library takes. Arrays are inspected with the GIL held; what
// is made from them here is used without it, while the caller keeps the array.
namespace bitpool::python {

namespace py = pybind11;

// The rows of a two-dimensional array of numbers as samples: of any type, order, strides and byte
// order, writable or not. Single precision whose rows are contiguous is read in place; everything
// else is converted block by block, as it is asked for.
class ArrayColumns : public ColumnSource {
 public:
  // Throws kInvalidArgument, naming the argument, for anything but numbers in two dimensions.
  ArrayColumns(const py::array& array, std::string argument);

  Index dimension() const override { return columns_; }
  Index size() const override { return rows_; }
  const std::string& argument() const { return argument_; }

  // Whether nothing needs to be copied.
  bool in_place() const { return in_place_; }

  // The error in the terms of the caller who passed the array: where it is about numbers that are
  // not finite, it says which.
  Error Explain(const Error& error) const;

 private:
  using Convert = void (*)(const std::byte* from, ptrdiff_t step, size_t count, float* to,
                           ptrdiff_t to_step);

  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override;
  template <class T>
  static Convert ConverterOf(bool swapped);
  static Convert FindConverter(const py::dtype& dtype, const std::string& argument);
  std::string NameNonFinite() const;

  std::string argument_;
  const std::byte* data_;
  Index rows_ = 0, columns_ = 0;
  ptrdiff_t row_step_ = 0, column_step_ = 0;  // in bytes
  bool in_place_ = false;
  Convert convert_ = nullptr;
};

// Runs job(columns); an error that it throws is about the argument.
template <class Job>
auto Explained(const ArrayColumns& columns, const Job& job) {
  try {
    return job(columns);
  } catch (const Error& error) {
    throw columns.Explain(error);
  }
}

// Packed codes of an array of whole numbers from 0 to 255, a row per code. Throws kInvalidArgument,
// naming the argument, for another number of dimensions or bytes.
BinaryCodes CodesOf(const py::array& array, int bits, const std::string& argument);

// Ids of a one-dimensional array of whole numbers.
std::vector<int64_t> IdsOf(const py::array& array, const std::string& argument);

// An array that has taken over what `held` holds.
template <class T, class Held>
py::array_t<T> ArrayOn(Held held, std::vector<py::ssize_t> shape, const T* (*data)(const Held&),
                       std::vector<py::ssize_t> strides = {}) {
  auto owner = std::make_unique<Held>(std::move(held));
  const T* const begin = data(*owner);
  const py::capsule base(owner.release(), [](void* kept) { delete static_cast<Held*>(kept); });
  if (strides.empty()) return py::array_t<T>(std::move(shape), begin, base);
  return py::array_t<T>(std::move(shape), std::move(strides), begin, base);
}

template <class T>
py::array_t<T> ArrayOf(std::vector<T> values, std::vector<py::ssize_t> shape) {
  return ArrayOn<T, std::vector<T>>(std::move(values), std::move(shape),
                                    [](const std::vector<T>& kept) { return kept.data(); });
}

// (n, bytes), (n, dimension), and a matrix as it is: (rows, columns).
py::array_t<uint8_t> ArrayOfCodes(BinaryCodes codes);
py::array_t<float> ArrayOfSamples(MatrixF columns);
py::array_t<float> ArrayOfMatrix(MatrixF matrix);

// Marks an array as one that must not be written to.
py::array ReadOnly(py::array array);

}  // namespace bitpool::python
