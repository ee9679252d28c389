#include "bitpool/samples/splits.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;

// Chosen and rest together must be every item once, each ascending.
void ExpectPartition(const Split& split, Index items) {
  EXPECT_TRUE(std::is_sorted(split.chosen.begin(), split.chosen.end()));
  EXPECT_TRUE(std::is_sorted(split.rest.begin(), split.rest.end()));
  std::vector<Index> all = split.chosen;
  all.insert(all.end(), split.rest.begin(), split.rest.end());
  std::sort(all.begin(), all.end());
  std::vector<Index> expected(static_cast<size_t>(items));
  std::iota(expected.begin(), expected.end(), Index{0});
  EXPECT_EQ(all, expected);
}

TEST(Splits, ChooseItems) {
  for (const Index count : {0, 1, 30, 99, 100}) {
    const Split split = ChooseItems(100, count, 7);
    EXPECT_EQ(static_cast<Index>(split.chosen.size()), count);
    ExpectPartition(split, 100);
  }
  EXPECT_EQ(ChooseItems(100, 30, 7).chosen, ChooseItems(100, 30, 7).chosen);
  EXPECT_NE(ChooseItems(100, 30, 7).chosen, ChooseItems(100, 30, 8).chosen);
  ExpectError(ErrorCode::kInvalidArgument, {"101 of 100"}, [] { ChooseItems(100, 101, 1); });
}

TEST(Splits, FoldsCoverEverythingOnce) {
  const auto folds = MakeFolds(23, 5, 2);
  ASSERT_EQ(folds.size(), 5U);
  std::set<Index> all;
  for (const std::vector<Index>& fold : folds) {
    EXPECT_GE(fold.size(), 4U);
    EXPECT_LE(fold.size(), 5U);
    all.insert(fold.begin(), fold.end());
  }
  EXPECT_EQ(all.size(), 23U);
  ExpectError(ErrorCode::kInvalidArgument, {"3 items into 4"}, [] { MakeFolds(3, 4, 1); });
}

}  // namespace
}  // namespace bitpool
