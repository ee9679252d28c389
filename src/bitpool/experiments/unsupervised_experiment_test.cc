#include "bitpool/experiments/unsupervised_experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bitpool/hash/testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

VectorSet SmallSet() {
  VectorSet set;
  set.name = "small";
  set.features = "numbers";
  set.train = ClusteredSamples(8, 400, 1);
  set.test = ClusteredSamples(8, 60, 2);
  return set;
}

UnsupervisedOptions SmallUnsupervised() {
  UnsupervisedOptions options;
  options.bits = {4, 8};
  options.methods = {"rba", "lsh"};
  options.seeds = 2;
  options.queries = 40;
  options.neighbours = 5;
  return options;
}

TEST(UnsupervisedExperiment, HasAFigureForEveryMethodLengthAndMetric) {
  const UnsupervisedResult result =
      RunUnsupervisedExperiment(SmallUnsupervised(), SmallSet(), RunContext());
  const Experiment& experiment = result.experiment;
  ASSERT_EQ(experiment.results.size(), 16U);
  for (const ExperimentResult& found : experiment.results) {
    EXPECT_EQ(found.seeds, 2);
    EXPECT_GE(found.mean, 0);
    EXPECT_TRUE(found.metric != "mAP" || found.mean <= 100);
  }
  EXPECT_GT(experiment.results[0].mean, 5) << "mAP of RBA in percent";
  EXPECT_EQ(experiment.data["queries"], 40);
  EXPECT_EQ(experiment.data["database"], 400);
  ASSERT_TRUE(result.surface.has_value());
  EXPECT_EQ(result.surface->values.rows(), 5);
  EXPECT_TRUE(result.surface->values.allFinite());
  EXPECT_THAT(UnsupervisedReport(result), ::testing::HasSubstr("Hashing without labels: small"));
}

TEST(UnsupervisedExperiment, IsTheSameAtAnyNumberOfThreads) {
  UnsupervisedOptions options = SmallUnsupervised();
  options.surface = false;
  const auto one = RunUnsupervisedExperiment(options, SmallSet(), RunContext({.threads = 1}));
  const auto four = RunUnsupervisedExperiment(options, SmallSet(), RunContext({.threads = 4}));
  for (size_t i = 0; i < one.experiment.results.size(); ++i) {
    if (one.experiment.results[i].metric == "training_seconds") continue;
    EXPECT_EQ(one.experiment.results[i].mean, four.experiment.results[i].mean);
    EXPECT_EQ(one.experiment.results[i].spread, four.experiment.results[i].spread);
  }
}

TEST(UnsupervisedExperiment, RefusesWhatHasNoMeaning) {
  const auto refusal = [](const UnsupervisedOptions& options) {
    return RefusalOf([&] { RunUnsupervisedExperiment(options, SmallSet(), RunContext()); });
  };
  UnsupervisedOptions options = SmallUnsupervised();
  options.methods = {"best"};
  EXPECT_THAT(refusal(options), ::testing::HasSubstr("method \"best\""));
  options = SmallUnsupervised();
  options.bits = {};
  EXPECT_THAT(refusal(options), ::testing::HasSubstr("at least one"));
  options = SmallUnsupervised();
  options.neighbours = 500;
  EXPECT_THAT(refusal(options), ::testing::HasSubstr("500"));
}

}  // namespace
}  // namespace bitpool
