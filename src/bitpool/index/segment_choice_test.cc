#include "bitpool/index/segment_choice.h"

#include <gtest/gtest.h>

#include <numeric>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

std::vector<int64_t> Count(size_t count) {
  std::vector<int64_t> ids(count);
  std::iota(ids.begin(), ids.end(), int64_t{0});
  return ids;
}

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

}  // namespace
}  // namespace bitpool
