#include "bitpool/index/code_segment.h"

#include <gtest/gtest.h>

#include <numeric>

#include "bitpool/base/random.h"
#include "bitpool/index/testing.h"

namespace bitpool {
namespace {

class CodeSegmentTest : public ::testing::TestWithParam<SegmentLayout> {};

TEST_P(CodeSegmentTest, KeepsCodesAndIds) {
  Random random(1);
  for (const size_t count : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{1000}}) {
    std::vector<uint8_t> rows(count * 3);
    for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random.Next());
    std::vector<int64_t> ids;
    for (size_t i = 0; i < count; ++i) ids.push_back(static_cast<int64_t>(i * i + 5));
    const auto segment = CodeSegment::Build(GetParam(), 24, rows, ids, OneThread());
    ASSERT_EQ(segment->size(), count);
    uint8_t code[3];
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(segment->id(i), ids[i]);
      ASSERT_EQ(segment->FindSlot(ids[i]), i);
      segment->CopyCode(i, code);
      ASSERT_TRUE(std::equal(code, code + 3, &rows[i * 3]));
    }
    EXPECT_FALSE(segment->FindSlot(4));
    EXPECT_FALSE(segment->FindSlot(7));
    EXPECT_FALSE(segment->FindSlot(ids.back() + 1));
  }
}

TEST_P(CodeSegmentTest, ConsecutiveIdsAreNotStored) {
  std::vector<int64_t> ids(100);
  std::iota(ids.begin(), ids.end(), 1000);
  const auto segment =
      CodeSegment::Build(GetParam(), 8, std::vector<uint8_t>(100), ids, OneThread());
  EXPECT_TRUE(segment->ids().empty());
  EXPECT_EQ(segment->id(99), 1099);
  EXPECT_EQ(segment->FindSlot(1050), 50U);
  EXPECT_FALSE(segment->FindSlot(999));
  EXPECT_EQ(CodeSegment::Build(GetParam(), 8, {}, {}, OneThread())->size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Layouts, CodeSegmentTest,
                         ::testing::Values(SegmentLayout::kBlocks, SegmentLayout::kTables));

}  // namespace
}  // namespace bitpool
