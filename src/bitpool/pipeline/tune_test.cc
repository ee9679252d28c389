#include "bitpool/pipeline/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bitpool/linalg/testing.h"
#include "bitpool/pipeline/testing.h"

namespace bitpool {
namespace {

TuneOptions Options(const char* method) {
  TuneOptions options;
  options.settings.method = method;
  options.settings.bits = 6;
  options.seeds = 1;
  options.rounds = 1;
  return options;
}

TEST(Tune, TriesAGridAndRefinesAroundTheBest) {
  const MemoryFeatureSet images = SmallScenes(120, 8, 12, 1);
  const TuneResult result = Tune(Options("sah"), images, nullptr, RunContext());
  ASSERT_EQ(result.trials.size(), 2U * 3 * 3 * 3 + 8);
  double best = 0;
  for (const TuneTrial& trial : result.trials) best = std::max(best, trial.score);
  EXPECT_EQ(result.best.score, best);
  EXPECT_GT(best, 5) << "percent; chance is about 10 of 40";
  const HashSettings chosen = result.Chosen(Options("sah").settings);
  EXPECT_EQ(chosen.gamma, result.best.gamma);
  EXPECT_EQ(chosen.mu, result.best.mu);
}

TEST(Tune, KeepsWhatIsSetAndKnowsLabels) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 4, 2);
  std::vector<int32_t> classes;
  for (int32_t i = 0; i < 60; ++i) classes.push_back(i % 4);
  const Labels labels = Labels::Single(classes);
  TuneOptions options = Options("sah");
  options.settings.mu = 5;
  options.settings.lambda = 0.02;
  options.settings.beta = 0.001;
  const TuneResult result = Tune(options, images, &labels, RunContext());
  EXPECT_EQ(result.trials.size(), 3U + 2);
  for (const TuneTrial& trial : result.trials) {
    EXPECT_EQ(trial.mu, 5);
    EXPECT_EQ(trial.lambda, 0.02);
    EXPECT_EQ(trial.beta, 0.001);
  }
  EXPECT_THAT(result.criterion, testing::HasSubstr("class"));
  EXPECT_GT(result.best.score, 40) << "percent; chance is 25";
}

TEST(Tune, OfRbaHasNoGamma) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 4, 3);
  const TuneResult result = Tune(Options("rba"), images, nullptr, RunContext());
  EXPECT_EQ(result.trials.size(), 2U * 3 * 3 + 6);
  EXPECT_FALSE(result.Chosen(Options("rba").settings).gamma.has_value());
}

TEST(Tune, IsTheSameAtAnyNumberOfThreads) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 4, 3);
  const TuneResult one = Tune(Options("rba"), images, nullptr, RunContext({.threads = 1}));
  const TuneResult four = Tune(Options("rba"), images, nullptr, RunContext({.threads = 4}));
  for (size_t i = 0; i < one.trials.size(); ++i) {
    EXPECT_EQ(one.trials[i].score, four.trials[i].score);
  }
}

TEST(Tune, RefusesWhatCannotBeTuned) {
  const MemoryFeatureSet images = SmallScenes(5, 8, 4, 3);
  const auto refusal = [&](const TuneOptions& options) {
    return RefusalOf([&] { Tune(options, images, nullptr, RunContext()); });
  };
  EXPECT_THAT(refusal(Options("itq")), testing::HasSubstr("only sah and rba"));
  EXPECT_THAT(refusal(Options("sah")), testing::HasSubstr("too few"));
  TuneOptions paper = Options("sah");
  paper.settings.paper = true;
  EXPECT_THAT(refusal(paper), testing::HasSubstr("literal"));
  const Labels labels = Labels::Single({0, 1});
  EXPECT_THAT(RefusalOf([&] { Tune(Options("sah"), images, &labels, RunContext()); }),
              testing::HasSubstr("2 labels for 5 images"));
}

TEST(Config, ComesBackAndDoesNotOverrideWhatIsSet) {
  TuneResult result;
  result.best = {.lambda = 0.1, .beta = 0.2, .gamma = 3, .mu = 4, .score = 50};
  result.trials = {result.best};
  const nlohmann::json config = WriteConfig(Options("sah").settings, result);
  HashSettings settings = Options("sah").settings;
  settings.gamma = 7;
  settings = ReadConfig(config, settings);
  EXPECT_EQ(settings.lambda, 0.1);
  EXPECT_EQ(settings.beta, 0.2);
  EXPECT_EQ(settings.gamma, 7);
  EXPECT_EQ(settings.mu, 4);
  EXPECT_THAT(RefusalOf([&] { ReadConfig(config, Options("rba").settings); }),
              testing::HasSubstr("for \"sah\", not for rba"));
  EXPECT_THAT(RefusalOf([&] {
                ReadConfig({{"lambdda", 1}}, settings);
              }),
              testing::HasSubstr("\"lambdda\""));
  EXPECT_THAT(RefusalOf([&] {
                ReadConfig({{"mu", "large"}}, settings);
              }),
              testing::HasSubstr("\"mu\""));
}

}  // namespace
}  // namespace bitpool
