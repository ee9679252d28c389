#include "bitpool/samples/retrieval_splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Labels RoundRobin(Index images, int32_t classes) {
  std::vector<int32_t> of;
  for (Index image = 0; image < images; ++image)
    of.push_back(static_cast<int32_t>(image) % classes);
  return Labels::Single(of);
}

// Images with one to three of `classes` classes, every tenth with none.
Labels ManyLabels(Index images, int32_t classes) {
  Random random(7);
  std::vector<std::vector<int32_t>> of(static_cast<size_t>(images));
  for (size_t image = 0; image < of.size(); ++image) {
    if (image % 10 == 9) continue;
    const uint64_t count = 1 + random.Below(3);
    for (const uint64_t c : random.Sample(static_cast<uint64_t>(classes), count)) {
      of[image].push_back(static_cast<int32_t>(c));
    }
  }
  return Labels::Multi(of);
}

std::vector<Index> Common(const std::vector<Index>& a, const std::vector<Index>& b) {
  std::vector<Index> common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  return common;
}

std::set<int32_t> ClassesOf(const Labels& labels, const std::vector<Index>& images) {
  std::set<int32_t> classes;
  for (const Index image : images) {
    for (const int32_t c : labels.of(image)) classes.insert(c);
  }
  return classes;
}

std::map<int32_t, int> CountPerClass(const Labels& labels, const std::vector<Index>& images) {
  std::map<int32_t, int> counts;
  for (const Index image : images) {
    for (const int32_t c : labels.of(image)) ++counts[c];
  }
  return counts;
}

std::string WhatIsThrown(const auto& job) {
  try {
    job();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(SplitTraditional, DrawsFromEveryClassAndKeepsQueriesApart) {
  const Labels labels = RoundRobin(400, 4);
  const RetrievalSplit split =
      SplitTraditional(labels, {.queries_per_class = 10, .training_per_class = 20}, 3);
  EXPECT_EQ(split.queries.size(), 40U);
  EXPECT_EQ(split.database.size(), 360U);
  EXPECT_EQ(split.training.size(), 80U);
  EXPECT_THAT(Common(split.queries, split.database), IsEmpty());
  EXPECT_EQ(Common(split.training, split.database), split.training);
  for (const auto& [c, count] : CountPerClass(labels, split.queries)) EXPECT_EQ(count, 10) << c;
  for (const auto& [c, count] : CountPerClass(labels, split.training)) EXPECT_EQ(count, 20) << c;
}

TEST(SplitTraditional, DependsOnTheSeedAlone) {
  const Labels labels = RoundRobin(400, 4);
  const SplitOptions options{.queries_per_class = 10, .training_per_class = 20};
  EXPECT_EQ(SplitTraditional(labels, options, 3).training,
            SplitTraditional(labels, options, 3).training);
  EXPECT_NE(SplitTraditional(labels, options, 3).queries,
            SplitTraditional(labels, options, 4).queries);
  // Another number of training images does not change which images are queries.
  EXPECT_EQ(
      SplitTraditional(labels, options, 3).queries,
      SplitTraditional(labels, {.queries_per_class = 10, .training_per_class = 0}, 3).queries);
}

TEST(SplitTraditional, TheWholeDatabaseMayLearn) {
  const RetrievalSplit split =
      SplitTraditional(RoundRobin(40, 4), {.queries_per_class = 2, .training_per_class = 0}, 1);
  EXPECT_EQ(split.training, split.database);
}

TEST(SplitTraditional, DrawsAnImageOfSeveralClassesOnce) {
  const Labels labels = ManyLabels(1000, 6);
  const RetrievalSplit split =
      SplitTraditional(labels, {.queries_per_class = 10, .training_per_class = 50}, 1);
  EXPECT_EQ(split.queries.size(), 60U);
  EXPECT_EQ(split.training.size(), 300U);
  EXPECT_THAT(Common(split.training, split.queries), IsEmpty());
  for (const Index image : split.training) EXPECT_FALSE(labels.of(image).empty());
}

TEST(SplitTraditional, NamesTheClassThatIsTooSmall) {
  const Labels labels = Labels::Single({0, 0, 0, 1});
  EXPECT_THAT(WhatIsThrown([&] {
                SplitTraditional(labels, {.queries_per_class = 2, .training_per_class = 0}, 1);
              }),
              HasSubstr("class 1 has 1 images"));
}

// Neither a query nor an unseen class may reach the training, whatever the seed.
TEST(SplitUnseen, NeverShowsTrainingWhatIsAskedFor) {
  const Labels train = RoundRobin(500, 10), test = RoundRobin(100, 10);
  std::set<std::vector<int32_t>> choices;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const RetrievalSplit split = SplitUnseen(train, test, {}, seed);
    EXPECT_EQ(split.seen_classes.size(), 7U);
    EXPECT_EQ(split.training.size(), 350U);
    EXPECT_EQ(split.database.size(), 150U);
    EXPECT_EQ(split.queries.size(), 30U);
    const std::set<int32_t> seen(split.seen_classes.begin(), split.seen_classes.end());
    const std::set<int32_t> asked(split.asked_classes.begin(), split.asked_classes.end());
    EXPECT_EQ(ClassesOf(train, split.training), seen);
    EXPECT_EQ(ClassesOf(train, split.database), asked);
    EXPECT_THAT(Common(split.training, split.database), IsEmpty());
    for (const Index query : split.queries) {
      ASSERT_GE(query, 500);
      EXPECT_TRUE(asked.contains(test.of(query - 500)[0]));
    }
    choices.insert(split.seen_classes);
  }
  EXPECT_GT(choices.size(), 10U);  // the seed decides
}

// The deep methods are trained elsewhere, and have to leave out the same classes: UNSEEN_CLASSES in
// research/deep/data.py is this table.
TEST(SplitUnseen, LeavesOutTheClassesThatTheDeepMethodsLeaveOut) {
  const Labels ten = Labels::Single({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const std::vector<std::vector<int32_t>> asked = {
      {0, 2, 5}, {4, 5, 7}, {4, 5, 9}, {5, 7, 8}, {1, 4, 6}};
  for (size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ(SplitUnseen(ten, ten, {}, i + 1).asked_classes, asked[i]) << "seed " << i + 1;
  }
}

TEST(SplitUnseen, NeedsThreeClasses) {
  const Labels two = RoundRobin(10, 2), three = RoundRobin(12, 3);
  EXPECT_THAT(WhatIsThrown([&] { SplitUnseen(two, two, {}, 1); }), HasSubstr("at least 3 classes"));
  const RetrievalSplit split = SplitUnseen(three, three, {.seen_share = 0.99}, 1);
  EXPECT_EQ(split.seen_classes.size(), 2U);
  EXPECT_EQ(split.asked_classes.size(), 1U);
}

TEST(SplitUnseenSampled, RemovesImagesWithClassesOfBothKinds) {
  const Labels labels = ManyLabels(2000, 10);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const RetrievalSplit split =
        SplitUnseenSampled(labels, {.queries_per_class = 30, .training_per_class = 40}, seed);
    const std::set<int32_t> trained = ClassesOf(labels, split.training);
    const std::set<int32_t> asked = ClassesOf(labels, split.queries);
    const std::set<int32_t> searched = ClassesOf(labels, split.database);
    for (const int32_t c : split.asked_classes) EXPECT_FALSE(trained.contains(c));
    for (const int32_t c : split.seen_classes) {
      EXPECT_FALSE(asked.contains(c));
      EXPECT_FALSE(searched.contains(c));
    }
    EXPECT_FALSE(split.training.empty());
    EXPECT_FALSE(split.queries.empty());
    EXPECT_FALSE(split.database.empty());
    EXPECT_THAT(Common(split.queries, split.database), IsEmpty());
    EXPECT_THAT(Common(split.queries, split.training), IsEmpty());
    EXPECT_LE(split.training.size(), 40U * split.seen_classes.size());
  }
}

TEST(KeepFrequentClasses, RenumbersTheMostFrequent) {
  const Labels labels = Labels::Multi({{5}, {5, 2}, {2, 0}, {5}, {}});
  const Labels kept = KeepFrequentClasses(labels, 2);  // 5 (three images), 2 (two)
  EXPECT_EQ(kept.class_count(), 2);
  EXPECT_THAT(kept.of(0), ::testing::ElementsAre(0));
  EXPECT_THAT(kept.of(1), ::testing::ElementsAre(0, 1));
  EXPECT_THAT(kept.of(2), ::testing::ElementsAre(1));
  EXPECT_THAT(kept.of(4), IsEmpty());
  EXPECT_THAT(WhatIsThrown([&] { KeepFrequentClasses(labels, 4); }), HasSubstr("3 occur"));
}

TEST(SplitOptions, RefusesWhatHasNoMeaning) {
  const Labels labels = RoundRobin(10, 3);
  EXPECT_THROW(SplitTraditional(labels, {.queries_per_class = 0}, 1), Error);
  EXPECT_THROW(SplitUnseen(labels, labels, {.seen_share = 1}, 1), Error);
}

}  // namespace
}  // namespace bitpool
