#include "bitpool/report/experiment_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bitpool/base/error.h"
#include "bitpool/version.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;

constexpr double kNoResult = std::numeric_limits<double>::quiet_NaN();

Experiment Sample() {
  return {.name = "retrieval",
          .title = "Retrieval",
          .settings = {{"seeds", 3}},
          .data = {{"set", "CIFAR-10"}},
          .machine = {{"threads", 2}},
          .results = {{"RBA", 16, "mAP", 0.41, 0.01, 3},
                      {"RBA", 8, "mAP", 0.3104, 0, 1},
                      {"ITQ", 8, "mAP", 0.3096, 0.002, 3},
                      {"LSH", 8, "mAP", 0.1, kNoResult, 3},
                      {"LSH", 16, "mAP", kNoResult, 0, 3},
                      {"RBA", 8, "seconds", 40, 1, 3},
                      {"ITQ", 8, "seconds", 4, 1, 3}}};
}

TEST(Experiment, JsonRoundTrip) {
  const nlohmann::json json = nlohmann::json::parse(ToJson(Sample()).dump());
  EXPECT_EQ(json["experiment"], "retrieval");
  EXPECT_EQ(json["settings"]["seeds"], 3);
  EXPECT_EQ(json["results"][0], (nlohmann::json{{"method", "RBA"},
                                                {"bits", 16},
                                                {"metric", "mAP"},
                                                {"mean", 0.41},
                                                {"spread", 0.01},
                                                {"seeds", 3}}));
  EXPECT_TRUE(json["results"][4]["mean"].is_null());
  EXPECT_TRUE(json["results"][3]["spread"].is_null());
  const Experiment back = ExperimentFromJson(json);
  EXPECT_EQ(ToJson(back), json);
  EXPECT_EQ(back.results.size(), 7U);
  EXPECT_TRUE(std::isnan(back.results[4].mean));
  EXPECT_EQ(back.results[0].mean, 0.41);
}

TEST(Experiment, JsonHasTheFigureOfEverySeed) {
  Experiment experiment = Sample();
  experiment.results = {SummariseRuns("RBA", 8, "mAP", {0.25, 0.75, kNoResult})};
  const nlohmann::json json = ToJson(experiment);
  EXPECT_EQ(json["results"][0]["each"], (nlohmann::json{0.25, 0.75, nullptr}));
  const Experiment back = ExperimentFromJson(json);
  ASSERT_EQ(back.results[0].each.size(), 3U);
  EXPECT_EQ(back.results[0].each[1], 0.75);
  EXPECT_TRUE(std::isnan(back.results[0].each[2]));
}

TEST(Experiment, JsonOfInfinityAndOfNothing) {
  Experiment experiment{
      .name = "n", .title = "t", .settings = {}, .data = {}, .machine = {}, .results = {}};
  EXPECT_EQ(ToJson(experiment)["results"], nlohmann::json::array());
  EXPECT_EQ(ToJson(ExperimentFromJson(ToJson(experiment))), ToJson(experiment));
  experiment.results = {{"a", 8, "m", std::numeric_limits<double>::infinity(), 0, 1}};
  EXPECT_TRUE(ToJson(experiment)["results"][0]["mean"].is_null());
}

TEST(Experiment, RefusesOtherJson) {
  const auto code_of = [](const nlohmann::json& json) {
    try {
      ExperimentFromJson(json);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  };
  EXPECT_EQ(code_of(nlohmann::json::array()), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of({{"experiment", "a"}}), ErrorCode::kCorrupt);
  nlohmann::json wrong = ToJson(Sample());
  wrong["results"][0]["bits"] = "eight";
  EXPECT_EQ(code_of(wrong), ErrorCode::kCorrupt);
  wrong = ToJson(Sample());
  wrong["results"][0].erase("mean");
  EXPECT_EQ(code_of(wrong), ErrorCode::kCorrupt);
}

TEST(TableOf, MethodsByBitsWithTiesEmphasised) {
  const ReportTable table = TableOf(Sample(), "mAP", "{:.2f}", true);
  EXPECT_THAT(table.header, ElementsAre("Method", "8 bits", "16 bits"));
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0][0].text, "RBA");
  EXPECT_EQ(table.rows[1][0].text, "ITQ");
  // 0.3104 and 0.3096 look the same with two decimals.
  EXPECT_EQ(table.rows[0][1].text, "0.31");
  EXPECT_EQ(table.rows[0][1].note, "");
  EXPECT_TRUE(table.rows[0][1].emphasised);
  EXPECT_EQ(table.rows[1][1].note, "± 0.00");
  EXPECT_TRUE(table.rows[1][1].emphasised);
  EXPECT_FALSE(table.rows[2][1].emphasised);
  EXPECT_EQ(table.rows[2][1].note, "");
  EXPECT_EQ(table.rows[1][2].text, "–");  // not measured
  EXPECT_EQ(table.rows[2][2].text, "–");  // not a number
  EXPECT_FALSE(table.rows[1][2].emphasised);
  EXPECT_FALSE(table.rows[2][2].emphasised);
  EXPECT_TRUE(table.rows[0][2].emphasised);
  EXPECT_EQ(table.rows[0][2].align, Align::kRight);
  // With more decimals they differ.
  EXPECT_FALSE(TableOf(Sample(), "mAP", "{:.4f}", true).rows[1][1].emphasised);
}

TEST(TableOf, LowerIsBetter) {
  const ReportTable table = TableOf(Sample(), "seconds", "{:.0f}", false);
  EXPECT_FALSE(table.rows[0][1].emphasised);
  EXPECT_TRUE(table.rows[1][1].emphasised);
  EXPECT_EQ(TextTable(table),
            "seconds\n"
            "Method  8 bits\n"
            "RBA     40 ± 1\n"
            "ITQ      4*± 1\n");
}

TEST(TableOf, NothingMeasuredAndMeasuredTwice) {
  EXPECT_TRUE(TableOf(Sample(), "none", "{:.2f}", true).rows.empty());
  Experiment all_missing = Sample();
  for (ExperimentResult& result : all_missing.results) result.mean = kNoResult;
  for (const auto& row : TableOf(all_missing, "mAP", "{:.2f}", true).rows) {
    for (const ReportCell& cell : row) EXPECT_FALSE(cell.emphasised);
  }
  Experiment twice = Sample();
  twice.results.push_back(twice.results[0]);
  EXPECT_THROW(TableOf(twice, "mAP", "{:.2f}", true), Error);
  EXPECT_THROW(ChartOf(twice, "mAP", "", "", {}), Error);
  EXPECT_NO_THROW(TableOf(twice, "seconds", "{:.2f}", true));
}

TEST(MapTableOf, HasALineForBothWaysOfAsking) {
  Experiment experiment = Sample();
  EXPECT_EQ(TextTable(MapTableOf(experiment, "{:.2f}")),
            TextTable(TableOf(experiment, "mAP", "{:.2f}", true)));
  for (const int bits : {8, 16}) {
    experiment.results.push_back(SummariseRuns("RBA", bits, kAsymmetricMap, {0.5}));
    experiment.results.push_back(SummariseRuns("ITQ", bits, kAsymmetricMap, {0.6}));
  }
  const ReportTable table = MapTableOf(experiment, "{:.2f}");
  ASSERT_EQ(table.rows.size(), 5U);
  EXPECT_EQ(table.rows[0][0].text, "RBA");
  EXPECT_EQ(table.rows[1][0].text, "RBA, asymmetric");
  EXPECT_EQ(table.rows[1][1].text, "0.50");
  EXPECT_FALSE(table.rows[1][1].emphasised);
  EXPECT_EQ(table.rows[3][0].text, "ITQ, asymmetric");
  EXPECT_TRUE(table.rows[3][1].emphasised);
  EXPECT_TRUE(table.rows[0][1].emphasised);
}

TEST(ChartOf, ALinePerMethod) {
  const LineChart chart = ChartOf(Sample(), "mAP", "Title", "mAP", {"RBA"});
  EXPECT_EQ(chart.title, "Title");
  EXPECT_EQ(chart.y_label, "mAP");
  EXPECT_THAT(chart.x_ticks, ElementsAre(8, 16));
  EXPECT_FALSE(chart.log_x);
  ASSERT_EQ(chart.series.size(), 3U);
  EXPECT_TRUE(chart.series[0].emphasised);
  EXPECT_FALSE(chart.series[1].emphasised);
  EXPECT_THAT(chart.series[0].y, ElementsAre(0.3104, 0.41));
  EXPECT_THAT(chart.series[0].spread, ElementsAre(0, 0.01));
  EXPECT_EQ(chart.series[1].y[0], 0.3096);
  EXPECT_TRUE(std::isnan(chart.series[1].y[1]));
  EXPECT_NO_THROW(RenderSvg(chart));
}

TEST(ChartOf, LogarithmicWhereLengthsDouble) {
  Experiment experiment = Sample();
  experiment.results.clear();
  for (const int bits : {16, 32, 64, 128, 256, 512}) {
    experiment.results.push_back({"a", bits, "m", 0.5, 0, 1});
  }
  EXPECT_TRUE(ChartOf(experiment, "m", "", "", {}).log_x);
}

TEST(Machine, Describes) {
  const nlohmann::json machine = DescribeMachine({.cpu = "Some CPU", .threads = 4, .blas = ""});
  EXPECT_EQ(machine["cpu"], "Some CPU");
  EXPECT_EQ(machine["threads"], 4);
  EXPECT_EQ(machine["bitpool"], Version());
  EXPECT_THAT(machine["compiler"].get<std::string>(),
              ::testing::ContainsRegex("^[a-z]+ [0-9]+[.]"));
  EXPECT_FALSE(machine.contains("blas"));
  EXPECT_EQ(DescribeMachine({.cpu = "", .threads = 1, .blas = "OpenBLAS"})["blas"], "OpenBLAS");
}

TEST(Facts, AreTextOfJson) {
  const nlohmann::json object = {{"a", 1},       {"b", {{"c", 0.5}, {"d", {1, 2}}}},
                                 {"e", "text"},  {"f", true},
                                 {"g", nullptr}, {"h", -0.25}};
  EXPECT_EQ(FactsOf(object), (ReportFacts{{"a", "1"},
                                          {"b.c", "0.5"},
                                          {"b.d", "1, 2"},
                                          {"e", "text"},
                                          {"f", "yes"},
                                          {"g", "–"},
                                          {"h", "−0.25"}}));
  EXPECT_TRUE(FactsOf(nlohmann::json()).empty());
  EXPECT_TRUE(FactsOf(nlohmann::json::object()).empty());
}

TEST(SummariseRuns, GivesMeanAndStandardDeviation) {
  const ExperimentResult three = SummariseRuns("rba", 8, "mAP", {1, 2, 6});
  EXPECT_EQ(three.mean, 3);
  EXPECT_NEAR(three.spread, std::sqrt(7), 1e-12);
  EXPECT_EQ(three.seeds, 3);
  EXPECT_EQ(SummariseRuns("rba", 8, "mAP", {5}).spread, 0);
}

}  // namespace
}  // namespace bitpool
