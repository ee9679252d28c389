#include "bitpool/reproduction/run_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "bitpool/io/testing.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

using testing::TempFolder;
using testing::WriteText;

const nlohmann::json kSettings = {{"bits", {8, 16}}, {"seed", 1}};

class RunFileTest : public ::testing::Test {
 protected:
  RunFile Open(const nlohmann::json& settings = kSettings) {
    return {Env::Posix(), folder_.path(), "small", settings,
            [&](const std::string& line) { said_.push_back(line); }};
  }

  static Experiment SmallExperiment() {
    Experiment experiment;
    experiment.name = "small";
    experiment.title = "Small";
    experiment.results.push_back(SummariseRuns("sah", 8, "mAP", {1, 2}));
    return experiment;
  }

  TempFolder folder_;
  std::vector<std::string> said_;
};

TEST_F(RunFileTest, GoesOnWhereItWas) {
  {
    RunFile file = Open();
    EXPECT_FALSE(file.experiment());
    file.Keep({"sah", 8, 1}, {.metrics = {{"mAP", 12.5}}});
  }
  {
    RunFile file = Open();
    EXPECT_FALSE(file.experiment()) << "it was not completed";
    ASSERT_EQ(file.all().size(), 1U);
    EXPECT_EQ(file.all().begin()->second.metrics.at("mAP"), 12.5);
    file.Keep({"sah", 16, 1}, {.metrics = {{"mAP", 20}}});
    file.Complete(SmallExperiment());
  }
  const RunFile file = Open();
  ASSERT_TRUE(file.experiment());
  EXPECT_EQ(file.experiment()->results.size(), 1U);
  EXPECT_EQ(file.all().size(), 2U);
  EXPECT_TRUE(said_.empty());
}

TEST_F(RunFileTest, TheTimeOfAllCallsIsAddedUp) {
  Open().Keep({"sah", 8, 1}, {.metrics = {{"mAP", 12.5}}});
  const auto path = Open().path();
  nlohmann::json json;
  std::ifstream(path) >> json;
  EXPECT_GT(json["seconds"], 0);
  json["seconds"] = 3600;
  WriteText(path, json.dump());
  RunFile file = Open();
  EXPECT_EQ(file.seconds(), 3600);
  file.Complete(SmallExperiment());
  EXPECT_GT(Open().seconds(), 3600);
  EXPECT_EQ(Open().seconds(), file.seconds()) << "a run that is complete takes no more";
}

TEST_F(RunFileTest, OtherSettingsAreAnotherFile) {
  Open().Complete(SmallExperiment());
  EXPECT_FALSE(Open({{"bits", {8, 16}}, {"seed", 2}}).experiment());
  EXPECT_TRUE(Open().experiment());
}

TEST_F(RunFileTest, DamageIsReportedAndBegunAnew) {
  Open().Complete(SmallExperiment());
  const auto path = Open().path();
  std::ifstream in(path);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  std::string other_settings = good;
  other_settings.replace(other_settings.find("\"seed\": 1"), 9, "\"seed\": 7");
  std::string no_number = good;
  no_number.replace(no_number.find("\"mean\": 1.5"), 11, "\"mean\": \"x\"");
  for (const std::string& damaged : {good.substr(0, good.size() / 2), std::string("[]"),
                                     std::string(), other_settings, no_number}) {
    WriteText(path, damaged);
    said_.clear();
    RunFile file = Open();
    EXPECT_FALSE(file.experiment());
    EXPECT_TRUE(file.all().empty());
    ASSERT_EQ(said_.size(), 1U) << damaged;
    EXPECT_NE(said_[0].find("started again"), std::string::npos) << said_[0];
    EXPECT_NE(said_[0].find(path.string()), std::string::npos) << said_[0];
    file.Complete(SmallExperiment());
    EXPECT_TRUE(Open().experiment()) << "and can be completed";
  }
}

}  // namespace
}  // namespace bitpool
