#include "bitpool/codes/early_look.h"

#include <gtest/gtest.h>

namespace bitpool {
namespace {

// The closed form for Hamming distances says the same as the law it was solved from.
TEST(EarlyLook, BytesOfHammingDistancesFollowTheLaw) {
  for (const size_t bytes : {1, 2, 8, 16, 32, 64, 512}) {
    for (int32_t threshold = 0; threshold <= 254; ++threshold) {
      const size_t early = EarlyHammingBytes(bytes, threshold);
      ASSERT_GE(early, 1U);
      ASSERT_LE(early, bytes);
      const auto out_after = [&](size_t count) {
        const auto bits = static_cast<double>(8 * count);
        return AlmostSurelyOut(bits, bits, threshold + 0.5);
      };
      EXPECT_TRUE(early == bytes || out_after(early)) << bytes << " bytes, " << threshold;
      EXPECT_TRUE(early == 1 || !out_after(early - 1)) << bytes << " bytes, " << threshold;
    }
  }
}

TEST(EarlyLook, ALimitAtTheMeanIsNeverSure) {
  EXPECT_FALSE(AlmostSurelyOut(64, 64, 32));
  EXPECT_TRUE(AlmostSurelyOut(64, 64, 32 - 3.7 * 4));
  EXPECT_FALSE(AlmostSurelyOut(64, 64, 32 - 3.6 * 4));
}

}  // namespace
}  // namespace bitpool
