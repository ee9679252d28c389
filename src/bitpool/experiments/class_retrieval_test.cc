#include "bitpool/experiments/class_retrieval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/reproduction/testing.h"
#include "bitpool/training/tune.h"

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

double ScoreOfMethod(const Experiment& experiment, const std::string& method) {
  for (const ExperimentResult& result : experiment.results) {
    if (result.method == method && result.metric == kMap) return result.mean;
  }
  ADD_FAILURE() << method << " was not run";
  return 0;
}

TEST_F(ClassRetrievalTest, WithViewsOurOwnMethodsJoinAndTheOthersStayAsTheyWere) {
  const Experiment plain = Run();
  images_.views = std::make_shared<MemoryFeatureSet>(WithSmallChanges(*images_.images, 60, 2));
  options_.joint.constants["sav"].options["epochs"] = 4;
  const Experiment experiment = Run();
  EXPECT_EQ(experiment.data["pictures_with_views"], 60);
  EXPECT_EQ(experiment.data["views"], 2);
  for (const char* method : {"sah", "itq"}) {
    EXPECT_EQ(ScoreOfMethod(experiment, method), ScoreOfMethod(plain, method)) << method;
  }
  for (const char* method : {"itq+views", "sav"}) {
    EXPECT_GT(ScoreOfMethod(experiment, method), 40) << method << "; chance is 33";
  }
  // Views are of the training part; without parts of its own, the set has none to learn from.
  options_.own_parts = false;
  EXPECT_FALSE(Run().data.contains("views"));
}

// Also methods that do not learn from views are judged by them, and not by halves of a picture.
TEST_F(ClassRetrievalTest, WhereThereAreViewsTheyChooseTheConstants) {
  images_.views = std::make_shared<MemoryFeatureSet>(WithSmallChanges(*images_.images, 60, 2));
  options_.joint.methods = {"rba"};
  options_.joint.ours = false;
  options_.tune = true;
  options_.tune_bits = 8;
  FigureStore figures;
  options_.joint.figures = &figures;
  Run();
  TuneOptions tuning;
  tuning.settings = {.method = "rba", .bits = 8, .options = {{"normalise", 1}}};
  tuning.seeds = tuning.rounds = 1;
  tuning.look_for_classes = true;
  const TuneResult direct = Tune(tuning, *images_.views, nullptr, RunContext({.threads = 2}));
  EXPECT_EQ(figures.all().at({"tuned rba", 8, 1}).metrics.at("score"), direct.best.score);
}

TEST_F(ClassRetrievalTest, RefusesWhatHasNoMeaning) {
  images_.training_part = 0;
  EXPECT_THAT(RefusalOf([&] { Run(); }), HasSubstr("training and a test part"));
  options_.queries = 0;
  EXPECT_THAT(RefusalOf([&] { Run(); }), HasSubstr("at least one query"));
}

}  // namespace
}  // namespace bitpool
