#include "bitpool/experiments/joint_experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bitpool/linalg/testing.h"
#include "bitpool/training/testing.h"

namespace bitpool {
namespace {

// 60 images of 12 scenes to search; each of the first ten is a query for the others of its scene.
class JointExperimentTest : public ::testing::Test {
 protected:
  JointExperimentTest() {
    ReduceImages(SmallScenes(90, 10, 15, 1), true, training_, RunContext());
    ReduceImages(SmallScenes(60, 10, 12, 2), true, database_, RunContext());
    for (Index query = 0; query < 10; ++query) {
      queries_.push_back(query);
      std::vector<Index> same;
      for (Index image = query + 12; image < 60; image += 12) same.push_back(image);
      truth_.AddQuery(same, {query});
    }
    options_.bits = {4, 8};
    options_.methods = {"sah", "rba", "itq"};
    options_.seeds = 2;
  }

  Experiment Run(int threads) const {
    return RunJointExperiment(options_,
                              {.training = training_,
                               .database = database_,
                               .queries = nullptr,
                               .query_images = queries_,
                               .truth = truth_,
                               .protocol = HolidaysProtocol()},
                              RunContext({.threads = threads}));
  }

  MemoryRecords training_{10}, database_{10};
  std::vector<Index> queries_;
  ListedTruth truth_{60};
  JointOptions options_;
};

TEST_F(JointExperimentTest, HasAFigureForEveryMethodLengthAndMetric) {
  const Experiment experiment = Run(2);
  EXPECT_EQ(experiment.results.size(), 3U * 2 * 5);
  for (const ExperimentResult& found : experiment.results) {
    EXPECT_EQ(found.seeds, 2);
    EXPECT_GT(found.mean, 0) << found.method << found.metric;
  }
  EXPECT_EQ(experiment.data["training_images"], 90);
  EXPECT_EQ(experiment.settings["constants"]["rba"]["mu"], 10);
  EXPECT_THAT(JointReport(experiment), ::testing::HasSubstr("learned together"));
}

TEST_F(JointExperimentTest, IsTheSameAtAnyNumberOfThreads) {
  const Experiment one = Run(1), four = Run(4);
  for (size_t i = 0; i < one.results.size(); ++i) {
    if (one.results[i].metric == "training_seconds") continue;
    EXPECT_EQ(one.results[i].mean, four.results[i].mean) << one.results[i].metric;
  }
}

TEST_F(JointExperimentTest, SeparateQueriesAndConstants) {
  options_.constants["sah"].options["gamma"] = 3;
  options_.constants["rba"].options["mu"] = 2;
  const Experiment experiment = RunJointExperiment(options_,
                                                   {.training = training_,
                                                    .database = database_,
                                                    .queries = &database_,
                                                    .query_images = {},
                                                    .truth =
                                                        *[&] {
                                                          auto truth =
                                                              std::make_unique<ListedTruth>(60);
                                                          for (Index i = 0; i < 60; ++i)
                                                            truth->AddQuery({i});
                                                          return truth;
                                                        }(),
                                                    .protocol = HashingProtocol()},
                                                   RunContext());
  EXPECT_EQ(experiment.settings["constants"]["sah"]["gamma"], 3);
  EXPECT_EQ(experiment.settings["constants"]["rba"]["mu"], 2);
  EXPECT_EQ(experiment.data["queries"], 60);
}

TEST_F(JointExperimentTest, RefusesWhatHasNoMeaning) {
  options_.methods = {"best"};
  EXPECT_THAT(RefusalOf([&] { Run(1); }), ::testing::HasSubstr("method \"best\""));
  options_.methods = {};
  EXPECT_THAT(RefusalOf([&] { Run(1); }), ::testing::HasSubstr("at least one"));
}

}  // namespace
}  // namespace bitpool
