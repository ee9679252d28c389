#include "bitpool/experiments/step_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

TEST(StepTimes, HasEveryStepOfBothWays) {
  const testing::TempFolder folder;
  for (uint64_t i = 0; i < 12; ++i) {
    testing::WriteBytes(folder / "pictures" / (std::to_string(i) + ".jpg"),
                        testing::SpottedJpeg(i, 64, 48));
  }
  ExtractorSettings settings;
  settings.kind = "dense";
  const PictureDescriber describer(settings, {}, {});
  FigureStore rounds;
  const StepTimeOptions options{.pictures = 10, .bits = 4, .rounds = 3, .figures = &rounds};
  const Experiment experiment = MeasureStepTimes(Env::Posix(), options, describer,
                                                 folder / "pictures", RunContext({.threads = 1}));
  EXPECT_EQ(experiment.settings["pictures"], 10);
  std::set<std::string> seen;
  for (const ExperimentResult& result : experiment.results) {
    EXPECT_GT(result.mean, 0);
    EXPECT_EQ(result.seeds, 3) << "one for each round";
    seen.insert(result.method + " " + result.metric);
  }
  EXPECT_EQ(seen.size(), 6U);
  EXPECT_EQ(rounds.all().size(), 6U);
  EXPECT_EQ(rounds.all().at({"sah", 4, 1}).metrics.size(), 3U);
  EXPECT_TRUE(seen.contains("sah pool_ms"));
  EXPECT_TRUE(seen.contains("others encode_ms"));
  std::filesystem::create_directories(folder / "empty");
  EXPECT_THAT(RefusalOf([&] {
                MeasureStepTimes(Env::Posix(), options, describer, folder / "empty", RunContext());
              }),
              HasSubstr("2 or more pictures"));
}

}  // namespace
}  // namespace bitpool
