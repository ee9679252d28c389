#include "bitpool/samples/splits.h"

#include <algorithm>
#include <numeric>

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

}  // namespace
}  // namespace bitpool
