#include "bitpool/samples/labels.h"

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;

std::vector<int32_t> Of(const Labels& labels, Index item) {
  const auto classes = labels.of(item);
  return {classes.begin(), classes.end()};
}

TEST(Labels, SingleAndMulti) {
  const Labels single = Labels::Single({3, 0, 3});
  EXPECT_TRUE(single.single());
  EXPECT_EQ(single.class_count(), 4);
  EXPECT_EQ(Of(single, 2), std::vector<int32_t>{3});
  const Labels multi = Labels::Multi({{5, 1, 5}, {}, {2}});
  EXPECT_FALSE(multi.single());
  EXPECT_EQ(multi.size(), 3);
  EXPECT_EQ(Of(multi, 0), (std::vector<int32_t>{1, 5}));
  EXPECT_TRUE(Of(multi, 1).empty());
  EXPECT_EQ(multi.class_count(), 6);
  ExpectError(ErrorCode::kInvalidArgument, {"item 1", "-2"}, [] { Labels::Single({0, -2}); });
  EXPECT_EQ(Labels().class_count(), 0);
  EXPECT_EQ(Labels::Single({kMaxClasses - 1}).class_count(), kMaxClasses);
  ExpectError(ErrorCode::kInvalidArgument, {"item 0", "2147483647"}, [] {
    Labels::Multi({{1, INT32_MAX}});
  });
}

TEST(Labels, SelectKeepsTheOrderAsked) {
  const Labels selected = Labels::Multi({{5, 1}, {}, {2}}).Select({2, 0, 2});
  EXPECT_EQ(selected.size(), 3);
  EXPECT_EQ(Of(selected, 1), (std::vector<int32_t>{1, 5}));
  EXPECT_EQ(Of(selected, 2), std::vector<int32_t>{2});
}

TEST(Labels, ShareClass) {
  const std::vector<int32_t> a = {1, 4, 9}, b = {2, 9}, c = {0, 3}, none;
  EXPECT_TRUE(ShareClass(a, b));
  EXPECT_FALSE(ShareClass(a, c));
  EXPECT_FALSE(ShareClass(a, none));
}

}  // namespace
}  // namespace bitpool
