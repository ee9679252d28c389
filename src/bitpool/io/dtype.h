#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bitpool {

// Element types of arrays in files. The numbers are part of the container format; the names are
// NumPy's.
enum class DType : uint32_t {
  kF2 = 1,  // half precision
  kF4 = 2,
  kF8 = 3,
  kU1 = 4,
  kI4 = 5,
  kI8 = 6,
  kU8 = 7,
  kU4 = 8,
};

std::string_view DTypeName(DType dtype);                    // "f4"
std::optional<DType> DTypeFromName(std::string_view name);  // of "f4"
std::optional<DType> DTypeFromNumber(uint32_t number);      // of 2
size_t DTypeSize(DType dtype);                              // bytes per element

template <class T>
constexpr DType DTypeOf();
template <>
constexpr DType DTypeOf<float>() {
  return DType::kF4;
}
template <>
constexpr DType DTypeOf<double>() {
  return DType::kF8;
}
template <>
constexpr DType DTypeOf<uint8_t>() {
  return DType::kU1;
}
template <>
constexpr DType DTypeOf<int32_t>() {
  return DType::kI4;
}
template <>
constexpr DType DTypeOf<int64_t>() {
  return DType::kI8;
}
template <>
constexpr DType DTypeOf<uint32_t>() {
  return DType::kU4;
}
template <>
constexpr DType DTypeOf<uint64_t>() {
  return DType::kU8;
}

// False when a floating-point element is infinite or not a number; `bad` is then the index of the
// first. Bytes need not be aligned.
bool AllFinite(DType dtype, std::span<const std::byte> elements, size_t* bad);

// Converts elements between types. Floats become integers only when they are whole and fit;
// integers become floats only when they are exact; narrower floats are rounded. Returns false, with
// the index of the first element that does not fit in `bad`. Bytes need not be aligned. REQUIRES:
// `in` and `out` hold the same number of elements.
bool ConvertElements(DType from, std::span<const std::byte> in, DType to, std::span<std::byte> out,
                     size_t* bad);

// What an element must be to become one of type `to`, such as "a whole number from 0 to 255".
std::string DescribeFitting(DType to);

// a·b, or nothing when it overflows.
std::optional<uint64_t> CheckedProduct(uint64_t a, uint64_t b);
std::optional<uint64_t> CheckedProduct(std::span<const uint64_t> factors);

}  // namespace bitpool
