#include "bitpool/io/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "bitpool/base/half.h"

namespace bitpool {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class To, class From>
std::optional<To> Convert(From value) {
  To out = {};
  size_t bad = 99;
  const bool fits =
      ConvertElements(DTypeOf<From>(), std::as_bytes(std::span(&value, 1)), DTypeOf<To>(),
                      std::as_writable_bytes(std::span(&out, 1)), &bad);
  if (fits) return out;
  EXPECT_EQ(bad, 0U);
  return std::nullopt;
}

TEST(DType, NamesAndNumbersGoBothWays) {
  for (uint32_t number = 1; number <= 8; ++number) {
    const DType dtype = *DTypeFromNumber(number);
    EXPECT_EQ(DTypeFromName(DTypeName(dtype)), dtype);
    EXPECT_EQ(DTypeSize(dtype), static_cast<size_t>(DTypeName(dtype)[1] - '0'));
  }
  EXPECT_FALSE(DTypeFromNumber(0));
  EXPECT_FALSE(DTypeFromNumber(9));
  EXPECT_FALSE(DTypeFromName("c8"));
}

TEST(DType, IntegersBecomeFloatsOnlyWhenExact) {
  EXPECT_EQ((Convert<float, int32_t>(1 << 24)), static_cast<float>(1 << 24));
  EXPECT_FALSE((Convert<float, int32_t>((1 << 24) + 1)));
  EXPECT_FALSE((Convert<float, int32_t>(std::numeric_limits<int32_t>::max())));
  EXPECT_EQ((Convert<double, int32_t>(std::numeric_limits<int32_t>::max())), 2147483647.0);
  EXPECT_FALSE((Convert<double, int64_t>(std::numeric_limits<int64_t>::max())));
  EXPECT_FALSE((Convert<double, uint64_t>(std::numeric_limits<uint64_t>::max())));
  EXPECT_EQ((Convert<double, int64_t>(std::numeric_limits<int64_t>::min())), -0x1p63);
}

TEST(DType, FloatsBecomeIntegersOnlyWhenWholeAndInRange) {
  EXPECT_EQ((Convert<uint8_t, float>(255.0F)), 255);
  EXPECT_FALSE((Convert<uint8_t, float>(256.0F)));
  EXPECT_FALSE((Convert<uint8_t, float>(-1.0F)));
  EXPECT_FALSE((Convert<uint8_t, float>(1.5F)));
  EXPECT_FALSE((Convert<int32_t, double>(kNan)));
  EXPECT_FALSE((Convert<int32_t, double>(2147483648.0)));
  EXPECT_EQ((Convert<int32_t, double>(-2147483648.0)), std::numeric_limits<int32_t>::min());
  EXPECT_FALSE((Convert<int64_t, double>(0x1p63)));
  EXPECT_EQ((Convert<uint64_t, double>(0x1p63)), uint64_t{1} << 63);
}

TEST(DType, IntegersKeepTheirValue) {
  EXPECT_EQ((Convert<uint8_t, int64_t>(200)), 200);
  EXPECT_FALSE((Convert<uint8_t, int64_t>(-1)));
  EXPECT_FALSE((Convert<int32_t, uint64_t>(uint64_t{1} << 31)));
  EXPECT_FALSE((Convert<uint64_t, int32_t>(-1)));
}

TEST(DType, NarrowerFloatsAreRoundedButStayFinite) {
  EXPECT_EQ((Convert<float, double>(0.1)), 0.1F);
  EXPECT_FALSE((Convert<float, double>(1e39)));
  EXPECT_FALSE((Convert<double, float>(std::numeric_limits<float>::infinity())));
  EXPECT_FALSE((Convert<float, float>(std::nanf(""))));
}

TEST(DType, HalvesConvert) {
  const std::vector<float> values = {0.5F, -2.0F, 65504.0F, 1e6F};
  std::vector<uint16_t> halves(4);
  size_t bad = 0;
  EXPECT_FALSE(ConvertElements(DType::kF4, std::as_bytes(std::span(values)), DType::kF2,
                               std::as_writable_bytes(std::span(halves)), &bad));
  EXPECT_EQ(bad, 3U);
  EXPECT_EQ(HalfToFloat(halves[2]), 65504.0F);
  int32_t whole = 0;
  EXPECT_TRUE(ConvertElements(DType::kF2, std::as_bytes(std::span(halves).subspan(1, 1)),
                              DType::kI4, std::as_writable_bytes(std::span(&whole, 1)), &bad));
  EXPECT_EQ(whole, -2);
  const int32_t inexact = 4097;
  EXPECT_FALSE(ConvertElements(DType::kI4, std::as_bytes(std::span(&inexact, 1)), DType::kF2,
                               std::as_writable_bytes(std::span(halves).first(1)), &bad));
}

TEST(DType, FindsTheFirstBadNumberAtAnyAlignment) {
  std::vector<double> values(50, 1.0);
  values[31] = kNan;
  values[40] = kNan;
  std::vector<std::byte> shifted(1 + values.size() * sizeof(double));
  std::memcpy(shifted.data() + 1, values.data(), values.size() * sizeof(double));
  size_t bad = 0;
  EXPECT_FALSE(AllFinite(DType::kF8, std::span(shifted).subspan(1), &bad));
  EXPECT_EQ(bad, 31U);
  EXPECT_TRUE(AllFinite(DType::kF8, std::as_bytes(std::span(values)).first(31 * 8), &bad));
  EXPECT_TRUE(AllFinite(DType::kU1, shifted, &bad));
}

TEST(CheckedProduct, SeesOverflow) {
  const std::vector<uint64_t> fine = {3, 5, 7};
  const std::vector<uint64_t> large = {uint64_t{1} << 32, uint64_t{1} << 32};
  const std::vector<uint64_t> hidden = {uint64_t{1} << 63, 4, 0};
  EXPECT_EQ(CheckedProduct(fine), 105U);
  EXPECT_EQ(CheckedProduct(std::span<const uint64_t>{}), 1U);
  EXPECT_FALSE(CheckedProduct(large));
  EXPECT_FALSE(CheckedProduct(hidden));
  EXPECT_FALSE(CheckedProduct(uint64_t{1} << 63, 2));
}

}  // namespace
}  // namespace bitpool
