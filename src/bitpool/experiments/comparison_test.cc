#include "bitpool/experiments/comparison.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;

Comparison Small() {
  return {.bits = {4, 8},
          .methods = {"rba", "itq"},
          .seeds = 2,
          .constants = {{"rba", {.options = {{"lambda", 0.5}}}}}};
}

// Writes down what it is told to do; the figures tell the run.
class NotedTask : public ComparedTask {
 public:
  explicit NotedTask(const Comparison& comparison) : comparison_(comparison) {}

  void BeginSeed(const RunContext& seeded) override {
    notes.push_back(fmt::format("seed {}", seeded.seed()));
  }
  MethodSettings SettingsOf(const std::string& method) override {
    return comparison_.SettingsOf(method);
  }
  RunFigures Run(const MethodSettings& settings, const RunContext& seeded) override {
    notes.push_back(fmt::format("{} {} {} {}", settings.method, settings.bits, seeded.seed(),
                                settings.options.contains("lambda") ? "own" : "default"));
    const double value = settings.bits + 100.0 * static_cast<double>(seeded.seed());
    return {.metrics = {{"mAP", value}, {"another", -value}}};
  }

  std::vector<std::string> notes;

 private:
  const Comparison& comparison_;
};

std::vector<std::string> Lines(const Experiment& experiment) {
  std::vector<std::string> lines;
  for (const ExperimentResult& result : experiment.results) {
    lines.push_back(fmt::format("{} {} {} {} {}", result.method, result.bits, result.metric,
                                result.mean, result.seeds));
  }
  return lines;
}

TEST(RunComparison, RunsEveryMethodLengthAndSeedOnce) {
  const Comparison comparison = Small();
  NotedTask task(comparison);
  Experiment experiment;
  RunComparison(comparison, {"mAP"}, task, RunContext({.seed = 7}), experiment);
  EXPECT_THAT(task.notes, ElementsAre("seed 7", "rba 4 7 own", "rba 8 7 own", "itq 4 7 default",
                                      "itq 8 7 default", "seed 8", "rba 4 8 own", "rba 8 8 own",
                                      "itq 4 8 default", "itq 8 8 default"));
  EXPECT_THAT(Lines(experiment), ElementsAre("rba 4 mAP 754 2", "rba 8 mAP 758 2",
                                             "itq 4 mAP 754 2", "itq 8 mAP 758 2"));
  EXPECT_EQ(DescribeComparison(comparison, RunContext({.seed = 7})).dump(),
            R"({"bits":[4,8],"first_seed":7,"methods":["rba","itq"],"seeds":2})");
}

TEST(RunComparison, WithoutNamesHasAllMetricsByName) {
  Comparison comparison = Small();
  comparison.bits = {4};
  comparison.methods = {"itq"};
  NotedTask task(comparison);
  Experiment experiment;
  RunComparison(comparison, {}, task, RunContext({.seed = 1}), experiment);
  EXPECT_THAT(Lines(experiment), ElementsAre("itq 4 another -154 2", "itq 4 mAP 154 2"));
}

TEST(RunComparison, DoesOnlyWhatTheStoreDoesNotHave) {
  FigureStore store;
  store.Keep({.method = "rba", .bits = 4, .seed = 1}, {.metrics = {{"mAP", 5}}});
  Comparison comparison = Small();
  comparison.seeds = 1;
  comparison.figures = &store;
  NotedTask task(comparison);
  Experiment experiment;
  RunComparison(comparison, {"mAP"}, task, RunContext({.seed = 1}), experiment);
  EXPECT_THAT(task.notes,
              ElementsAre("seed 1", "rba 8 1 own", "itq 4 1 default", "itq 8 1 default"));
  EXPECT_EQ(experiment.results.front().mean, 5);
  EXPECT_EQ(store.all().size(), 4U);
}

TEST(Comparison, RefusesWhatHasNoMeaning) {
  const auto refusal = [](const auto& change) {
    Comparison comparison = Small();
    change(comparison);
    return RefusalOf([&] { comparison.Validate(LearnsFromVectorsAlone); });
  };
  EXPECT_EQ(refusal([](Comparison&) {}), "(no error)");
  for (const auto& empty : {refusal([](Comparison& c) { c.bits.clear(); }),
                            refusal([](Comparison& c) { c.methods.clear(); }),
                            refusal([](Comparison& c) { c.seeds = 0; })}) {
    EXPECT_THAT(empty, ::testing::HasSubstr("at least one"));
  }
  EXPECT_THAT(refusal([](Comparison& c) { c.bits = {0}; }), ::testing::HasSubstr("0 bits"));
  EXPECT_THAT(refusal([](Comparison& c) { c.methods = {"sah"}; }),
              ::testing::HasSubstr("method \"sah\": expected one of rba, ba, itq"));
}

TEST(Comparison, NamesMethodsBehindViews) {
  const MethodSettings behind = SettingsNamed("itq+views"), plain = SettingsNamed("itq");
  EXPECT_EQ(behind.method, "itq");
  EXPECT_TRUE(UsesViews(behind));
  EXPECT_FALSE(UsesViews(plain));
  EXPECT_EQ(NameIn(behind), "itq+views");
  EXPECT_EQ(NameIn(plain), "itq");
  Comparison comparison{.bits = {8}, .methods = {"itq+views"}};
  comparison.constants["itq+views"].options["epsilon"] = 2;
  const MethodSettings chosen = comparison.SettingsOf("itq+views");
  EXPECT_EQ(chosen.method, "itq");
  EXPECT_TRUE(UsesViews(chosen));
  EXPECT_EQ(ValueOf(chosen, "epsilon"), 2);
}

}  // namespace
}  // namespace bitpool
