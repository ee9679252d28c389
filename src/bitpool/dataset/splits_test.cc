#include "bitpool/dataset/splits.h"

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

Labels Cyclic(Index items, int32_t classes) {
  std::vector<int32_t> labels;
  for (Index i = 0; i < items; ++i) labels.push_back(static_cast<int32_t>(i % classes));
  return Labels::Single(labels);
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

TEST(Splits, ChoosePerClass) {
  const Labels labels = Cyclic(95, 10);
  const Split split = ChoosePerClass(labels, 4, 3);
  ExpectPartition(split, 95);
  std::vector<int> counts(10);
  for (const Index item : split.chosen) ++counts[static_cast<size_t>(labels.of(item)[0])];
  EXPECT_EQ(counts, std::vector<int>(10, 4));
  EXPECT_NE(split.chosen, ChoosePerClass(labels, 4, 4).chosen);
  ExpectError(ErrorCode::kInvalidArgument, {"class 5 has 9 items"},
              [&] { ChoosePerClass(labels, 10, 3); });
  ExpectError(ErrorCode::kInvalidArgument, {"exactly one class"}, [] {
    ChoosePerClass(Labels::Multi({{1, 2}}), 1, 3);
  });
}

TEST(Splits, ChooseClassesNeverMixes) {
  const Labels labels = Cyclic(95, 10);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ClassSplit split = ChooseClasses(labels, 0.7, seed);
    EXPECT_EQ(split.chosen_classes.size(), 7U);
    ExpectPartition(split.items, 95);
    std::set<int32_t> chosen, rest;
    for (const Index item : split.items.chosen) chosen.insert(labels.of(item)[0]);
    for (const Index item : split.items.rest) rest.insert(labels.of(item)[0]);
    EXPECT_EQ(std::vector<int32_t>(chosen.begin(), chosen.end()), split.chosen_classes);
    for (const int32_t c : rest) EXPECT_EQ(chosen.count(c), 0U);
  }
  EXPECT_EQ(ChooseClasses(Cyclic(4, 2), 0.99, 1).chosen_classes.size(), 1U);
  ExpectError(ErrorCode::kInvalidArgument, {"at least 2 classes"},
              [] { ChooseClasses(Cyclic(4, 1), 0.5, 1); });
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
