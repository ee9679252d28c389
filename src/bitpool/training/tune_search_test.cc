#include "bitpool/training/tune_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace bitpool {
namespace {

using ::testing::ElementsAre;

const TunePlan kPlan = {.stages = {{{"a", {1, 2}}, {"b", {10, 20}, "a"}}, {{"c", {7}}}},
                        .moves = {{"a", "b"}, {"b"}, {"c"}}};

OptionValues Values(double a, double b, double c) { return {{"a", a}, {"b", b}, {"c", c}}; }

TEST(TuneSearch, TriesAllCombinationsInTheOrderOfTheAxes) {
  const OptionValues set;
  const TuneSearch search(kPlan, set);
  EXPECT_THAT(search.Grid(kPlan.stages[0], Values(0, 0, 5)),
              ElementsAre(Values(1, 10, 5), Values(1, 20, 5), Values(2, 20, 5), Values(2, 40, 5)));
  EXPECT_THAT(search.Grid(kPlan.stages[1], Values(1, 2, 5)), ElementsAre(Values(1, 2, 7)));
}

TEST(TuneSearch, KeepsWhatIsSet) {
  const OptionValues set = {{"b", 8}};
  const TuneSearch search(kPlan, set);
  EXPECT_THAT(search.Grid(kPlan.stages[0], Values(0, 8, 5)),
              ElementsAre(Values(1, 8, 5), Values(2, 8, 5)));
  EXPECT_THAT(search.Around(Values(1, 8, 6), 2),
              ElementsAre(Values(0.5, 8, 6), Values(1, 8, 3), Values(2, 8, 6), Values(1, 8, 12)));
}

TEST(TuneSearch, StepsDownAndUpFromTheBest) {
  const OptionValues set;
  const TuneSearch search(kPlan, set);
  EXPECT_THAT(search.Around(Values(1, 8, 6), 2),
              ElementsAre(Values(0.5, 4, 6), Values(1, 4, 6), Values(1, 8, 3), Values(2, 16, 6),
                          Values(1, 16, 6), Values(1, 8, 12)));
}

TEST(SureGain, IsTheMeanLessItsStandardError) {
  using Runs = std::array<double, 3>;
  EXPECT_DOUBLE_EQ(SureGain(Runs{3, 5, 10}, Runs{1, 3, 8}), 2) << "the same gain in every run";
  // Gains of 6, 0 and 0: the mean is 2, the variance 12, so the standard error is 2.
  EXPECT_NEAR(SureGain(Runs{7, 3, 8}, Runs{1, 3, 8}), 0, 1e-12) << "one run of three decides";
  EXPECT_DOUBLE_EQ(SureGain(Runs{1, 3, 8}, Runs{3, 5, 10}), -2);
  EXPECT_DOUBLE_EQ(SureGain(std::array{4.0}, std::array{1.0}), 3) << "nothing to tell the error by";
}

TEST(TunePlan, NamesItsOptions) { EXPECT_THAT(kPlan.Options(), ElementsAre("a", "b", "c")); }

}  // namespace
}  // namespace bitpool
