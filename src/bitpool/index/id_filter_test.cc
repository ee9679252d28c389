#include "bitpool/index/id_filter.h"

#include <gtest/gtest.h>

namespace bitpool {
namespace {

TEST(IdFilter, ListsAllowWhatTheyName) {
  const IdFilter filter = IdFilter::FromIds({7, 3, 7, int64_t{1} << 40});
  EXPECT_TRUE(filter.Allows(3));
  EXPECT_TRUE(filter.Allows(int64_t{1} << 40));
  EXPECT_FALSE(filter.Allows(4));
  EXPECT_EQ(filter.ids()->size(), 3U);
  EXPECT_FALSE(IdFilter::FromIds({}).Allows(0));
}

TEST(IdFilter, BitmapsAllowSetBits) {
  const IdFilter filter = IdFilter::FromBitmap({uint64_t{1} << 5, 1});
  EXPECT_TRUE(filter.Allows(5));
  EXPECT_TRUE(filter.Allows(64));
  EXPECT_FALSE(filter.Allows(6));
  EXPECT_FALSE(filter.Allows(128));
  EXPECT_FALSE(filter.Allows(int64_t{1} << 62));
  EXPECT_FALSE(filter.ids());
}

}  // namespace
}  // namespace bitpool
