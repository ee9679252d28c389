#include "bitpool/index/segment_choice.h"

#include <gtest/gtest.h>

#include "bitpool/base/random.h"
#include "bitpool/index/testing.h"

namespace bitpool {
namespace {

TEST(SegmentChoice, KindsAreHonouredAndSmallSegmentsScanned) {
  Random random(1);
  std::vector<uint8_t> rows(5000 * 8);
  for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random.Next());
  const RunContext context({.threads = 1});
  EXPECT_EQ(ChooseSegment(IndexKind::kFlat, 64, rows, Count(5000), context)->tables(), nullptr);
  EXPECT_NE(ChooseSegment(IndexKind::kMultiIndex, 64, rows, Count(5000), context)->tables(),
            nullptr);
  EXPECT_EQ(ChooseSegment(IndexKind::kAuto, 64, rows, Count(5000), context)->tables(), nullptr);
  EXPECT_EQ(ChooseSegment(IndexKind::kMultiIndex, 64, std::span(rows).first(80), Count(10), context)
                ->tables(),
            nullptr);
}

// Codes around a few centres, or anywhere when there are none.
std::vector<uint8_t> DrawRows(Random& random, size_t count, size_t bytes, size_t centres) {
  std::vector<uint8_t> near(centres * bytes);
  for (uint8_t& byte : near) byte = static_cast<uint8_t>(random.Next());
  std::vector<uint8_t> rows(count * bytes);
  for (size_t i = 0; i < count; ++i) {
    const size_t centre = centres > 0 ? random.Below(centres) : 0;
    for (size_t j = 0; j < bytes; ++j) {
      const uint64_t few = random.Next() & random.Next() & random.Next() & random.Next();
      rows[i * bytes + j] = static_cast<uint8_t>(
          centres > 0 ? uint64_t{near[centre * bytes + j]} ^ few : random.Next());
    }
  }
  return rows;
}

TEST(SegmentChoice, ClusteredCodesAreLookedUpAndUniformOnesScanned) {
  Random random(2);
  const RunContext context({.threads = 1});
  constexpr size_t kCodes = 50000;
  const auto in_tables = [&](size_t bytes, size_t centres) {
    const std::vector<uint8_t> rows = DrawRows(random, kCodes, bytes, centres);
    return ChooseSegment(IndexKind::kAuto, static_cast<int>(bytes * 8), rows, Count(kCodes),
                         context)
               ->tables() != nullptr;
  };
  EXPECT_TRUE(in_tables(16, 2000));
  EXPECT_TRUE(in_tables(32, 2000));
  EXPECT_FALSE(in_tables(16, 0));
  EXPECT_FALSE(in_tables(32, 0));
}

}  // namespace
}  // namespace bitpool
