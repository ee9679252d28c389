#include "bitpool/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace bitpool {
namespace {

TEST(Random, SameSeedSameNumbersDifferentSeedOthers) {
  Random a(7), b(7), c(8);
  const uint64_t first = a.Next();
  EXPECT_EQ(first, b.Next());
  EXPECT_NE(first, c.Next());
}

TEST(Random, MatchesTheReferenceGenerator) {
  // SplitMix64(0) gives e220a8397b1dcdaf, 6e789e6aa1b965f4, ...; xoshiro256** multiplies the second
  // state word.
  EXPECT_EQ(Random(0).Next(), 0x99ec5f36cb75f2b4ULL);
}

TEST(Random, BelowIsUniform) {
  Random random(1);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[random.Below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);
  EXPECT_EQ(random.Below(1), 0U);
}

TEST(Random, NormalHasUnitVariance) {
  const MatrixF values = Random(2).NormalMatrix(300, 300);
  EXPECT_NEAR(values.mean(), 0.0F, 0.02F);
  EXPECT_NEAR(values.squaredNorm() / static_cast<float>(values.size()), 1.0F, 0.02F);
}

TEST(Random, SampleIsWithoutRepetition) {
  for (const uint64_t count : {0, 1, 3, 50, 99, 100}) {
    const std::vector<uint64_t> chosen = Random(3).Sample(100, count);
    EXPECT_EQ(chosen.size(), count);
    EXPECT_EQ(std::set<uint64_t>(chosen.begin(), chosen.end()).size(), count);
    for (const uint64_t item : chosen) EXPECT_LT(item, 100U);
  }
}

TEST(Random, ShuffleKeepsEveryItem) {
  std::vector<int> items = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<int> before = items;
  Random(4).Shuffle(items);
  EXPECT_NE(items, before);
  std::sort(items.begin(), items.end());
  EXPECT_EQ(items, before);
}

TEST(Random, ForksAreIndependentOfEachOther) {
  const Random random(5);
  EXPECT_EQ(random.Fork(1).Next(), random.Fork(1).Next());
  EXPECT_NE(random.Fork(1).Next(), random.Fork(2).Next());
}

}  // namespace
}  // namespace bitpool
