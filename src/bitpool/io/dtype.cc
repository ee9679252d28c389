#include "bitpool/io/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "bitpool/base/half.h"

namespace bitpool {
namespace {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian and read in place");

struct Traits {
  DType dtype;
  std::string_view name;
  size_t size;
};

constexpr std::array<Traits, 8> kTraits = {{{DType::kF2, "f2", 2},
                                            {DType::kF4, "f4", 4},
                                            {DType::kF8, "f8", 8},
                                            {DType::kU1, "u1", 1},
                                            {DType::kI4, "i4", 4},
                                            {DType::kI8, "i8", 8},
                                            {DType::kU8, "u8", 8},
                                            {DType::kU4, "u4", 4}}};

const Traits& TraitsOf(DType dtype) { return kTraits[static_cast<uint32_t>(dtype) - 1]; }

// Half precision has no C++ type here; this one carries its bits.
struct Half {
  uint16_t bits;
};

// Calls visit with a value of the C++ type of `dtype`.
template <class Visit>
auto VisitType(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::kF2:
      return visit(Half{});
    case DType::kF4:
      return visit(float{});
    case DType::kF8:
      return visit(double{});
    case DType::kU1:
      return visit(uint8_t{});
    case DType::kI4:
      return visit(int32_t{});
    case DType::kI8:
      return visit(int64_t{});
    case DType::kU8:
      return visit(uint64_t{});
    case DType::kU4:
      return visit(uint32_t{});
  }
  return visit(uint8_t{});
}

template <class T>
T Load(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <class T>
constexpr bool kIsFloating = std::is_floating_point_v<T> || std::is_same_v<T, Half>;

template <class T>
bool IsFinite(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return AllFinite(std::span(&value.bits, 1));
  } else {
    return std::isfinite(value);
  }
}

// Writes `value` as a To and tells whether it fits.
template <class To, class From>
bool ConvertOne(From value, To& out) {
  if constexpr (std::is_same_v<From, Half>) {
    return ConvertOne(HalfToFloat(value.bits), out);
  } else if constexpr (std::is_same_v<To, Half>) {
    float narrow = 0;
    if (!ConvertOne(value, narrow)) return false;
    out.bits = FloatToHalf(narrow);
    if (std::is_integral_v<From> && HalfToFloat(out.bits) != narrow) return false;
    return IsFinite(out);
  } else if constexpr (std::is_floating_point_v<From> && std::is_floating_point_v<To>) {
    out = static_cast<To>(value);
    return std::isfinite(out);
  } else if constexpr (std::is_floating_point_v<From>) {
    // The bounds are powers of two (exact in From); the upper one is excluded.
    constexpr auto kLow = static_cast<From>(std::numeric_limits<To>::min());
    constexpr To kHalf = std::numeric_limits<To>::max() / 2 + 1;
    constexpr From kHigh = From{2} * static_cast<From>(kHalf);
    if (!(value >= kLow && value < kHigh)) return false;
    out = static_cast<To>(value);
    return static_cast<From>(out) == value;
  } else if constexpr (std::is_floating_point_v<To>) {
    // Round trip through the float, unless rounding carried it past the integer's range.
    out = static_cast<To>(value);
    constexpr From kHalf = std::numeric_limits<From>::max() / 2 + 1;
    constexpr To kHigh = To{2} * static_cast<To>(kHalf);
    return out < kHigh && static_cast<From>(out) == value;
  } else {
    out = static_cast<To>(value);
    return std::in_range<To>(value);
  }
}

template <class From, class To>
bool ConvertAll(std::span<const std::byte> in, std::span<std::byte> out, size_t* bad) {
  const size_t count = in.size() / sizeof(From);
  for (size_t i = 0; i < count; ++i) {
    To value = {};
    if (!ConvertOne(Load<From>(in.data() + i * sizeof(From)), value)) {
      *bad = i;
      return false;
    }
    std::memcpy(out.data() + i * sizeof(To), &value, sizeof(To));
  }
  return true;
}

}  // namespace

std::string_view DTypeName(DType dtype) { return TraitsOf(dtype).name; }

std::optional<DType> DTypeFromName(std::string_view name) {
  for (const Traits& traits : kTraits) {
    if (traits.name == name) return traits.dtype;
  }
  return std::nullopt;
}

std::optional<DType> DTypeFromNumber(uint32_t number) {
  if (number < 1 || number > kTraits.size()) return std::nullopt;
  return static_cast<DType>(number);
}

size_t DTypeSize(DType dtype) { return TraitsOf(dtype).size; }

bool AllFinite(DType dtype, std::span<const std::byte> elements, size_t* bad) {
  return VisitType(dtype, [&]<class T>(T) {
    if constexpr (kIsFloating<T>) {
      const size_t count = elements.size() / sizeof(T);
      bool finite = true;  // a fast first pass without exits; the place of a bad number is
                           // searched for only when there is one
      for (size_t i = 0; i < count; ++i)
        finite &= IsFinite(Load<T>(elements.data() + i * sizeof(T)));
      if (finite) return true;
      *bad = 0;
      while (IsFinite(Load<T>(elements.data() + *bad * sizeof(T)))) ++*bad;
      return false;
    }
    return true;
  });
}

bool ConvertElements(DType from, std::span<const std::byte> in, DType to, std::span<std::byte> out,
                     size_t* bad) {
  return VisitType(from, [&]<class From>(From) {
    return VisitType(to, [&]<class To>(To) {
      if constexpr (std::is_same_v<From, To>) {
        std::copy(in.begin(), in.end(), out.begin());
        return AllFinite(from, in, bad);
      } else {
        return ConvertAll<From, To>(in, out, bad);
      }
    });
  });
}

std::string DescribeFitting(DType to) {
  return VisitType(to, [&]<class To>(To) -> std::string {
    if constexpr (kIsFloating<To>) {
      return fmt::format("a finite number that {} can hold", DTypeName(to));
    } else {
      return fmt::format("a whole number from {} to {} ({})", std::numeric_limits<To>::min(),
                         std::numeric_limits<To>::max(), DTypeName(to));
    }
  });
}

std::optional<uint64_t> CheckedProduct(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

std::optional<uint64_t> CheckedProduct(std::span<const uint64_t> factors) {
  std::optional<uint64_t> product = 1;
  for (const uint64_t factor : factors) {
    if (!product) break;
    product = CheckedProduct(*product, factor);
  }
  return product;
}

}  // namespace bitpool
