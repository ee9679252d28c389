#include "bitpool/experiments/class_retrieval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/reproduction/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

class ClassRetrievalTest : public ::testing::Test {
 protected:
  ClassRetrievalTest() {
    options_.joint.bits = {8};
    options_.joint.methods = {"sah", "itq"};
    options_.joint.seeds = 1;
    options_.queries = 20;
    options_.queries_per_class = 5;
    options_.scratch = folder_ / "records";
    images_.training_part = 90;
  }

  Experiment Run() const {
    return RunClassRetrieval(Env::Posix(), options_, images_, RunContext({.threads = 2}));
  }

  testing::TempFolder folder_;
  ClassRetrievalOptions options_;
  LabelledImages images_ = SmallLabelledImages();
};

TEST_F(ClassRetrievalTest, OwnPartsOrQueriesOfEveryClass) {
  Experiment experiment = Run();
  EXPECT_EQ(experiment.data["training_images"], 90);
  EXPECT_EQ(experiment.data["database_images"], 90);
  EXPECT_EQ(experiment.data["queries"], 20);
  for (const ExperimentResult& result : experiment.results) {
    EXPECT_TRUE(result.metric != kMap || result.mean > 40) << "chance is 33";
  }
  options_.own_parts = false;
  experiment = Run();
  EXPECT_EQ(experiment.data["queries"], 15);
  EXPECT_EQ(experiment.data["database_images"], 105);
}

TEST_F(ClassRetrievalTest, TopResultsAndConstants) {
  options_.top = 10;
  options_.tune = true;
  options_.tune_bits = 8;
  FigureStore figures;
  options_.joint.figures = &figures;
  const Experiment experiment = Run();
  EXPECT_THAT(experiment.settings["protocol"].get<std::string>(), HasSubstr("10"));
  EXPECT_TRUE(figures.all().contains({"tuned sah", 8, 1}));
  EXPECT_FALSE(figures.all().contains({"tuned rba", 8, 1})) << "it is not compared";
  EXPECT_EQ(experiment.settings["constants"]["sah"]["lambda"],
            figures.all().at({"tuned sah", 8, 1}).metrics.at("lambda"));
}

TEST_F(ClassRetrievalTest, RefusesWhatHasNoMeaning) {
  images_.training_part = 0;
  EXPECT_THAT(RefusalOf([&] { Run(); }), HasSubstr("training and a test part"));
  options_.queries = 0;
  EXPECT_THAT(RefusalOf([&] { Run(); }), HasSubstr("at least one query"));
}

}  // namespace
}  // namespace bitpool
