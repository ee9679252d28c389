#include "bitpool/base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

TEST(Half, KnownValues) {
  EXPECT_EQ(HalfToFloat(uint16_t{0x3c00}), 1.0F);
  EXPECT_EQ(HalfToFloat(uint16_t{0xc000}), -2.0F);
  EXPECT_EQ(HalfToFloat(uint16_t{0x7bff}), 65504.0F);
  EXPECT_EQ(HalfToFloat(uint16_t{0x0001}), std::ldexp(1.0F, -24));
  EXPECT_EQ(FloatToHalf(65519.0F), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520.0F), 0x7c00);  // the tie goes to even, which is infinity
  EXPECT_EQ(FloatToHalf(-0.0F), 0x8000);
  EXPECT_EQ(FloatToHalf(std::ldexp(1.0F, -25)), 0);  // a tie between 0 and the smallest half
}

TEST(Half, EveryHalfSurvivesTheRoundTripOnBothPaths) {
  std::vector<uint16_t> halves(65536);
  std::iota(halves.begin(), halves.end(), 0);
  std::vector<float> floats(halves.size());
  HalfToFloat(halves, floats);
  std::vector<uint16_t> back(halves.size());
  FloatToHalf(floats, back);
  for (size_t i = 0; i < halves.size(); ++i) {
    const float portable = HalfToFloat(halves[i]);
    ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(portable)) << i;
    ASSERT_EQ(back[i], FloatToHalf(portable)) << i;
    if (!std::isnan(portable)) {
      ASSERT_EQ(back[i], halves[i]) << i;
    }
  }
}

TEST(Half, FastAndPortableRoundAlike) {
  Random random(1);
  std::vector<float> floats(100003);  // odd, so that the tail is taken too
  for (float& value : floats) value = std::bit_cast<float>(static_cast<uint32_t>(random.Next()));
  std::vector<uint16_t> halves(floats.size());
  FloatToHalf(floats, halves);
  for (size_t i = 0; i < floats.size(); ++i) {
    ASSERT_EQ(halves[i], FloatToHalf(floats[i])) << floats[i];
  }
}

TEST(Half, AllFiniteSeesInfinityAndNan) {
  EXPECT_TRUE(AllFinite({}));
  std::vector<uint16_t> halves(100, 0x7bff);
  EXPECT_TRUE(AllFinite(halves));
  halves[57] = 0xfc00;
  EXPECT_FALSE(AllFinite(halves));
  halves[57] = 0x7e01;
  EXPECT_FALSE(AllFinite(halves));
}

}  // namespace
}  // namespace bitpool
