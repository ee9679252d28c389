#include "arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "bitpool/base/half.h"

namespace bitpool::python {
namespace {

// Numbers of NumPy's float16.
struct Half {
  uint16_t bits;
};

[[noreturn]] void Refuse(const std::string& argument, const std::string& reason) {
  throw Error(ErrorCode::kInvalidArgument, argument, reason);
}

std::string ShapeOf(const py::array& array) {
  std::string shape = "(";
  for (py::ssize_t i = 0; i < array.ndim(); ++i) shape += fmt::format("{}, ", array.shape(i));
  if (array.ndim() > 1) shape.resize(shape.size() - 2);
  if (array.ndim() == 1) shape.pop_back();
  return shape + ")";
}

std::string NameOf(const py::dtype& dtype) { return dtype.attr("name").cast<std::string>(); }

template <class T, bool kSwapped>
T Load(const std::byte* from) {
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), from, sizeof(T));
  if constexpr (kSwapped) std::ranges::reverse(bytes);
  return std::bit_cast<T>(bytes);
}

float ToFloat(Half value) { return HalfToFloat(value.bits); }
template <class T>
float ToFloat(T value) {
  return static_cast<float>(value);
}

template <class T, bool kSwapped>
void ConvertRun(const std::byte* from, ptrdiff_t step, size_t count, float* to, ptrdiff_t to_step) {
  if constexpr (std::is_same_v<T, Half> && !kSwapped) {
    if (step == sizeof(Half) && to_step == 1) {  // the processor converts eight at a time
      HalfToFloat({reinterpret_cast<const uint16_t*>(from), count}, {to, count});
      return;
    }
  }
  for (size_t i = 0; i < count; ++i, from += step, to += to_step) {
    *to = ToFloat(Load<T, kSwapped>(from));
  }
}

// Whole numbers of any type, to be checked by the caller. Throws for other types.
template <class Take>
void ForEachWhole(const py::array& array, const std::string& argument, const Take& take) {
  const char kind = array.dtype().kind();
  if (kind != 'i' && kind != 'u') {
    Refuse(argument, fmt::format("has dtype {}: expected whole numbers", NameOf(array.dtype())));
  }
  const auto wide = py::array_t<int64_t, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!wide) throw py::error_already_set();
  for (py::ssize_t i = 0; i < wide.size(); ++i) take(i, wide.data()[i]);
}

std::vector<uint8_t> BytesOf(const py::array& array, const std::string& argument) {
  std::vector<uint8_t> rows(static_cast<size_t>(array.size()));
  if (array.dtype().kind() == 'u' && array.itemsize() == 1) {
    const bool contiguous = (array.flags() & py::array::c_style) != 0;
    const auto bytes =
        contiguous ? array : py::array(py::array_t<uint8_t, py::array::c_style>::ensure(array));
    std::copy_n(static_cast<const uint8_t*>(bytes.data()), rows.size(), rows.begin());
    return rows;
  }
  ForEachWhole(array, argument, [&](py::ssize_t i, int64_t value) {
    if (value < 0 || value > 255) {
      Refuse(argument, fmt::format("has the value {}: expected bytes of packed codes, 0 to 255 "
                                   "(bitpool.pack makes them of bits)",
                                   value));
    }
    rows[static_cast<size_t>(i)] = static_cast<uint8_t>(value);
  });
  return rows;
}

}  // namespace

template <class T>
ArrayColumns::Convert ArrayColumns::ConverterOf(bool swapped) {
  return swapped ? &ConvertRun<T, true> : &ConvertRun<T, false>;
}

ArrayColumns::Convert ArrayColumns::FindConverter(const py::dtype& dtype,
                                                  const std::string& argument) {
  const bool swapped = !dtype.attr("isnative").cast<bool>();
  const auto size = dtype.itemsize();
  switch (dtype.kind()) {
    case 'f':
      if (size == 2) return ConverterOf<Half>(swapped);
      if (size == 4) return ConverterOf<float>(swapped);
      if (size == 8) return ConverterOf<double>(swapped);
      if (size == sizeof(long double) && !swapped) return &ConvertRun<long double, false>;
      break;
    case 'i':
      if (size == 1) return ConverterOf<int8_t>(swapped);
      if (size == 2) return ConverterOf<int16_t>(swapped);
      return size == 4 ? ConverterOf<int32_t>(swapped) : ConverterOf<int64_t>(swapped);
    case 'b':
    case 'u':
      if (size == 1) return ConverterOf<uint8_t>(swapped);
      if (size == 2) return ConverterOf<uint16_t>(swapped);
      return size == 4 ? ConverterOf<uint32_t>(swapped) : ConverterOf<uint64_t>(swapped);
    default:
      break;
  }
  Refuse(argument, fmt::format("has dtype {}: expected real numbers", NameOf(dtype)));
}

ArrayColumns::ArrayColumns(const py::array& array, std::string argument)
    : argument_(std::move(argument)), data_(static_cast<const std::byte*>(array.data())) {
  if (array.ndim() != 2) {
    Refuse(argument_, fmt::format("has the shape {}: expected 2 dimensions", ShapeOf(array)));
  }
  rows_ = array.shape(0);
  columns_ = array.shape(1);
  convert_ = FindConverter(array.dtype(), argument_);
  column_step_ = array.strides(1);
  row_step_ = array.strides(0);
  constexpr ptrdiff_t kSize = sizeof(float);
  // NumPy's strides mean nothing along dimensions of length 0 or 1.
  if (columns_ <= 1) column_step_ = array.itemsize();
  if (rows_ <= 1) row_step_ = columns_ * column_step_;
  in_place_ = convert_ == &ConvertRun<float, false> && column_step_ == kSize &&
              row_step_ % kSize == 0 && row_step_ >= columns_ * kSize &&
              reinterpret_cast<uintptr_t>(data_) % alignof(float) == 0;
}

ColumnsView ArrayColumns::ReadColumns(Index first, Index count, MatrixF& buffer) const {
  const std::byte* const begin = data_ + first * row_step_;
  if (in_place_) {
    return {reinterpret_cast<const float*>(begin), columns_, count,
            Eigen::OuterStride<>(row_step_ / static_cast<ptrdiff_t>(sizeof(float)))};
  }
  buffer.resize(columns_, count);
  // Along whichever dimension the numbers are closer together.
  if (std::abs(column_step_) <= std::abs(row_step_)) {
    for (Index row = 0; row < count; ++row) {
      convert_(begin + row * row_step_, column_step_, static_cast<size_t>(columns_),
               buffer.data() + row * columns_, 1);
    }
  } else {
    for (Index column = 0; column < columns_; ++column) {
      convert_(begin + column * column_step_, row_step_, static_cast<size_t>(count),
               buffer.data() + column, columns_);
    }
  }
  return ViewOf(buffer);
}

std::string ArrayColumns::NameNonFinite() const {
  constexpr Index kBlock = 256;
  MatrixF buffer;
  for (Index first = 0; first < rows_; first += kBlock) {
    const ColumnsView block = ReadColumns(first, std::min(kBlock, rows_ - first), buffer);
    for (Index row = 0; row < block.cols(); ++row) {
      for (Index column = 0; column < columns_; ++column) {
        const float value = block(column, row);
        if (std::isfinite(value)) continue;
        return fmt::format(
            "[{}, {}] is {}: expected finite numbers of single precision, without "
            "NaN and infinity",
            first + row, column,
            std::isnan(value) ? "NaN" : "infinite (inf) or too large for single precision");
      }
    }
  }
  return {};
}

Error ArrayColumns::Explain(const Error& error) const {
  if (error.code() != ErrorCode::kInvalidArgument) return error;
  const std::string reason = NameNonFinite();
  if (!reason.empty()) return {error.code(), argument_ + reason};
  return error.In(argument_);
}

BinaryCodes CodesOf(const py::array& array, int bits, const std::string& argument) {
  const auto bytes = static_cast<py::ssize_t>(BytesPerCode(bits));
  if (array.ndim() != 2 || array.shape(1) != bytes) {
    Refuse(argument, fmt::format("has the shape {}: expected (n, {}), packed codes of {} bits",
                                 ShapeOf(array), bytes, bits));
  }
  std::vector<uint8_t> rows = BytesOf(array, argument);
  return InContext(argument, [&] { return BinaryCodes(bits, std::move(rows)); });
}

std::vector<int64_t> IdsOf(const py::array& array, const std::string& argument) {
  if (array.ndim() != 1) {
    Refuse(argument, fmt::format("has the shape {}: expected 1 dimension", ShapeOf(array)));
  }
  std::vector<int64_t> ids(static_cast<size_t>(array.size()));
  if (ids.empty()) return ids;  // the type of an empty list means nothing
  ForEachWhole(array, argument,
               [&](py::ssize_t i, int64_t id) { ids[static_cast<size_t>(i)] = id; });
  return ids;
}

py::array_t<uint8_t> ArrayOfCodes(BinaryCodes codes) {
  const auto count = static_cast<py::ssize_t>(codes.size());
  const auto bytes = static_cast<py::ssize_t>(codes.bytes_per_code());
  return ArrayOf(std::move(codes).TakeRows(), {count, bytes});
}

py::array_t<float> ArrayOfSamples(MatrixF columns) {
  const py::ssize_t count = columns.cols(), dimension = columns.rows();
  return ArrayOn<float, MatrixF>(std::move(columns), {count, dimension},
                                 [](const MatrixF& kept) { return kept.data(); });
}

py::array_t<float> ArrayOfMatrix(MatrixF matrix) {
  const py::ssize_t rows = matrix.rows(), columns = matrix.cols();
  constexpr py::ssize_t kSize = sizeof(float);
  return ArrayOn<float, MatrixF>(std::move(matrix), {rows, columns},
                                 [](const MatrixF& kept) { return kept.data(); },
                                 {kSize, rows * kSize});
}

py::array ReadOnly(py::array array) {
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

}  // namespace bitpool::python
