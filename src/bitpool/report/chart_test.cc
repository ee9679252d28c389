#include "bitpool/report/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/report/markup_testing.h"
#include "bitpool/report/svg_writer.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;
using testing::MarkupElement;
using testing::ReadMarkup;
using testing::Select;

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kBeyondAll = std::numeric_limits<double>::infinity();

std::vector<std::string> Texts(const std::vector<MarkupElement>& elements) {
  std::vector<std::string> texts;
  for (const MarkupElement& element : elements) texts.push_back(element.text);
  return texts;
}

size_t CountOf(const std::string& text, char letter) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), letter));
}

LineChart TwoLines() {
  LineChart chart{.title = "Precision", .x_label = "bits", .y_label = "precision", .series = {}};
  chart.series.push_back({"ITQ", {8, 16, 24}, {0.3, 0.4, 0.45}, {0.01, 0.02, 0.01}, false});
  chart.series.push_back({"RBA", {8, 16, 24}, {0.35, 0.5, 0.55}, {}, true});
  chart.x_ticks = {8, 16, 24};
  return chart;
}

TEST(LineChart, HasLinesMarkersErrorBarsAndLabels) {
  const auto svg = ReadMarkup(RenderSvg(TwoLines()));
  EXPECT_EQ(svg[0].name, "svg");
  EXPECT_EQ(svg[0].attributes.at("role"), "img");
  EXPECT_THAT(svg[0].attributes.at("viewBox"), HasSubstr("0 0 640 "));
  EXPECT_EQ(svg[1].name, "title");
  EXPECT_EQ(svg[1].text, "Precision");
  EXPECT_EQ(svg[2].name, "desc");
  EXPECT_THAT(svg[2].text, HasSubstr("RBA: 0.35 at 8, 0.55 at 24."));
  EXPECT_EQ(Select(svg, "path", "line").size(), 2U);
  EXPECT_EQ(Select(svg, "path", "marker").size(), 8U);  // and one per label
  EXPECT_EQ(Select(svg, "path", "error").size(), 3U);
  EXPECT_EQ(Texts(Select(svg, "text", "label")), (std::vector<std::string>{"ITQ", "RBA"}));
  EXPECT_EQ(Select(svg, "g", "s0").size(), 1U);
  ASSERT_EQ(Select(svg, "g", "strong").size(), 1U);
  EXPECT_TRUE(Select(svg, "g", "strong")[0].Has("s1"));
  const auto ticks = Texts(Select(svg, "text", "tick"));
  for (const char* tick : {"8", "16", "24", "bits", "precision", "0.3", "0.6"}) {
    EXPECT_THAT(ticks, ::testing::Contains(tick));
  }
}

TEST(LineChart, PointsStandWhereTheTicksSay) {
  LineChart chart = TwoLines();
  chart.series = {{"a", {8, 24}, {0.2, 0.6}, {}, false}};
  const auto svg = ReadMarkup(RenderSvg(chart));
  const auto ticks = Select(svg, "text", "tick");
  const auto at = [&](const std::string& text) {
    return *std::find_if(ticks.begin(), ticks.end(),
                         [&](const MarkupElement& tick) { return tick.text == text; });
  };
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  const std::string path = Select(svg, "path", "line").at(0).attributes.at("d");
  ASSERT_EQ(std::sscanf(path.c_str(), "M%lf %lfL%lf %lf", &x1, &y1, &x2, &y2), 4);
  EXPECT_NEAR(x1, at("8").Number("x"), 0.11);
  EXPECT_NEAR(x2, at("24").Number("x"), 0.11);
  EXPECT_NEAR(y1, at("0.2").Number("y"), 0.11);
  EXPECT_NEAR(y2, at("0.6").Number("y"), 0.11);
}

TEST(LineChart, EndLabelsDoNotOverlap) {
  LineChart chart = TwoLines();
  chart.series.clear();
  for (int i = 0; i < 25; ++i) {
    const double last = i < 12 ? 0.5 : 0.5 + 1e-4 * i;
    chart.series.push_back({"method " + std::to_string(i), {8, 24}, {0.1 * i, last}, {}, i == 3});
  }
  const auto svg = ReadMarkup(RenderSvg(chart));
  std::vector<double> at;
  for (const MarkupElement& label : Select(svg, "text", "label")) at.push_back(label.Number("y"));
  ASSERT_EQ(at.size(), 25U);
  std::sort(at.begin(), at.end());
  for (size_t i = 1; i < at.size(); ++i) EXPECT_GE(at[i] - at[i - 1], kFontSize);
  double width = 0, height = 0;
  ASSERT_EQ(std::sscanf(svg[0].attributes.at("viewBox").c_str(), "0 0 %lf %lf", &width, &height),
            2);
  EXPECT_GE(at.front(), 0);
  EXPECT_LE(at.back(), height);
  // The second ten differ from the first by dashes, the second five by hollow markers.
  EXPECT_EQ(Select(svg, "g", "s0").size(), 3U);
  EXPECT_EQ(Select(svg, "g", "dashed").size(), 10U);
  EXPECT_EQ(Select(svg, "g", "hollow").size(), 10U);
}

TEST(LineChart, MissingValuesAreGaps) {
  LineChart chart = TwoLines();
  chart.series = {{"a", {1, 2, 3, 4, 5, 6}, {1, 2, kNoNumber, 4, 5, kBeyondAll}, {}, false},
                  {"alone", {1, 2, 3}, {kNoNumber, 2, kNoNumber}, {kNoNumber, kNoNumber, 1}, false},
                  {"none", {1, kNoNumber}, {kNoNumber, 2}, {}, false}};
  const std::string rendered = RenderSvg(chart);
  EXPECT_EQ(rendered.find("nan"), std::string::npos);
  EXPECT_EQ(rendered.find("inf"), std::string::npos);
  const auto svg = ReadMarkup(rendered);
  const auto lines = Select(svg, "path", "line");
  ASSERT_EQ(lines.size(), 2U);
  for (const MarkupElement& line : lines) EXPECT_EQ(CountOf(line.attributes.at("d"), 'L'), 1U);
  EXPECT_EQ(Select(svg, "path", "error").size(), 0U);
  EXPECT_EQ(Texts(Select(svg, "text", "label")), (std::vector<std::string>{"a", "alone"}));
  EXPECT_TRUE(Select(svg, "g", "s2").empty());
}

TEST(LineChart, LogAxisLeavesOutWhatIsNotPositive) {
  LineChart chart = TwoLines();
  chart.log_y = true;
  chart.series = {{"a", {8, 16, 24}, {0, 0.01, 100}, {0, 0.5, 3}, false}};
  const std::string rendered = RenderSvg(chart);
  EXPECT_EQ(rendered.find("nan"), std::string::npos);
  EXPECT_EQ(rendered.find("inf"), std::string::npos);
  const auto svg = ReadMarkup(rendered);
  EXPECT_EQ(Select(svg, "path", "marker").size(), 3U);
  EXPECT_EQ(Select(svg, "path", "error").size(), 2U);
}

TEST(LineChart, CrowdedTickLabelsAreLeftOut) {
  LineChart chart = TwoLines();
  chart.x_ticks = {1, 2, 3, 4, 512};
  chart.series = {{"a", {1, 512}, {100, 900}, {}, false}};
  const auto texts = Texts(Select(ReadMarkup(RenderSvg(chart)), "text", "tick"));
  EXPECT_THAT(texts, ::testing::Contains("1"));
  EXPECT_THAT(texts, ::testing::Contains("512"));
  EXPECT_THAT(texts, ::testing::Not(::testing::Contains("2")));
}

TEST(LineChart, OnePointAndNoData) {
  LineChart chart{.title = "t", .x_label = "x", .y_label = "y", .series = {}};
  chart.series = {{"a", {3}, {7}, {}, false}};
  EXPECT_EQ(Select(ReadMarkup(RenderSvg(chart)), "path", "marker").size(), 2U);
  chart.series = {{"a", {3}, {kNoNumber}, {}, false}};
  EXPECT_THAT(Texts(Select(ReadMarkup(RenderSvg(chart)), "text")), ::testing::Contains("no data"));
  chart.series.clear();
  EXPECT_THAT(Texts(Select(ReadMarkup(RenderSvg(chart)), "text")), ::testing::Contains("no data"));
  EXPECT_THAT(RenderSvg(LineChart{}), HasSubstr("no data"));
}

TEST(LineChart, RefusesSizesThatDoNotAgree) {
  LineChart chart = TwoLines();
  chart.series[0].y.pop_back();
  EXPECT_THROW(RenderSvg(chart), Error);
  chart = TwoLines();
  chart.series[0].spread.pop_back();
  EXPECT_THROW(RenderSvg(chart), Error);
}

constexpr const char* kHostileLabel = "</text><script>&\"'";

TEST(LineChart, EscapesText) {
  LineChart chart = TwoLines();
  chart.title = chart.x_label = chart.y_label = chart.series[0].name = kHostileLabel;
  const auto svg = ReadMarkup(RenderSvg(chart));
  EXPECT_TRUE(Select(svg, "script").empty());
  EXPECT_EQ(Select(svg, "title")[0].text, kHostileLabel);
  EXPECT_EQ(Select(svg, "text", "heading")[0].text, kHostileLabel);
  EXPECT_EQ(Select(svg, "text", "label")[0].text, kHostileLabel);
}

BarChart Times() {
  return {.title = "Time",
          .x_label = "seconds",
          .rows = {{"RBA", 40, "s", true}, {"ITQ", 10, "", false}, {"none", kNoNumber, "", false}},
          .log_x = false,
          .format = "{:.1f}"};
}

TEST(BarChart, LengthsAreValues) {
  const auto svg = ReadMarkup(RenderSvg(Times()));
  const auto bars = Select(svg, "rect", "bar");
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_NEAR(bars[0].Number("width") / bars[1].Number("width"), 4, 0.01);
  EXPECT_EQ(bars[0].Number("x"), bars[1].Number("x"));
  EXPECT_EQ(Texts(Select(svg, "text", "value")), (std::vector<std::string>{"40.0 s", "10.0", "–"}));
  EXPECT_EQ(Texts(Select(svg, "text", "label")), (std::vector<std::string>{"RBA", "ITQ", "none"}));
  EXPECT_EQ(Select(svg, "g", "strong").size(), 1U);
}

TEST(BarChart, LogAndNegativeValues) {
  BarChart chart = Times();
  chart.log_x = true;
  chart.rows = {{"a", 1000, "", false}, {"b", 1, "", false}, {"zero", 0, "", false}};
  auto svg = ReadMarkup(RenderSvg(chart));
  auto bars = Select(svg, "rect", "bar");
  ASSERT_EQ(bars.size(), 2U);  // zero has no place, but its number stands there
  EXPECT_GT(bars[1].Number("width"), 10);
  EXPECT_EQ(Select(svg, "text", "value")[2].text, "0.0");

  chart.log_x = false;
  chart.rows = {{"a", 5, "", false}, {"b", -5, "", false}};
  svg = ReadMarkup(RenderSvg(chart));
  bars = Select(svg, "rect", "bar");
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_NEAR(bars[1].Number("x") + bars[1].Number("width"), bars[0].Number("x"), 0.2);
  EXPECT_NEAR(bars[1].Number("width"), bars[0].Number("width"), 0.2);
}

TEST(BarChart, NoDataAndEscapes) {
  BarChart chart = Times();
  chart.rows = {{"a", kNoNumber, "", false}};
  EXPECT_THAT(RenderSvg(chart), HasSubstr("no data"));
  EXPECT_THAT(RenderSvg(BarChart{}), HasSubstr("no data"));
  chart = Times();
  chart.title = chart.x_label = chart.rows[0].label = chart.rows[0].note = kHostileLabel;
  const auto svg = ReadMarkup(RenderSvg(chart));
  EXPECT_EQ(Select(svg, "text", "value")[0].text, std::string("40.0 ") + kHostileLabel);
  chart.format = "{:d}";
  EXPECT_THROW(RenderSvg(chart), Error);
}

HeatMap Surface() {
  HeatMap chart{.title = "Surface",
                .x_label = "λ",
                .y_label = "β",
                .x_values = {0.1, 1, 10},
                .y_values = {0.01, 0.1},
                .values = MatrixD(2, 3),
                .format = "{:.2f}"};
  chart.values << 0.1, 0.2, 0.3,  //
      0.4, 0.9, kNoNumber;
  return chart;
}

TEST(HeatMap, OutlinesTheBestCell) {
  for (const bool higher : {true, false}) {
    HeatMap chart = Surface();
    chart.higher_is_better = higher;
    const auto svg = ReadMarkup(RenderSvg(chart));
    EXPECT_EQ(Select(svg, "rect", "fill").size(), 5U);
    const auto outlines = Select(svg, "rect", "best");
    ASSERT_EQ(outlines.size(), 1U);
    // The number inside the outline is the best one.
    std::vector<std::string> inside;
    for (const MarkupElement& text : Select(svg, "text", "middle")) {
      const double dx = text.Number("x") - outlines[0].Number("x");
      const double dy = text.Number("y") - outlines[0].Number("y");
      if (dx > 0 && dx < outlines[0].Number("width") && dy > 0 &&
          dy < outlines[0].Number("height")) {
        inside.push_back(text.text);
      }
    }
    EXPECT_EQ(inside, std::vector<std::string>{higher ? "0.90" : "0.10"});
    EXPECT_THAT(svg[2].text,
                HasSubstr(higher ? "Best: 0.90 at λ 1, β 0.1." : "Best: 0.10 at λ 0.1, β 0.01."));
  }
}

TEST(HeatMap, RowsGrowUpwardsAndColoursFollowValues) {
  const auto svg = ReadMarkup(RenderSvg(Surface()));
  const auto texts = Select(svg, "text", "middle");
  const auto at = [&](const std::string& text) {
    return *std::find_if(texts.begin(), texts.end(),
                         [&](const MarkupElement& element) { return element.text == text; });
  };
  EXPECT_LT(at("0.40").Number("y"), at("0.10").Number("y"));
  EXPECT_EQ(at("0.40").Number("x"), at("0.10").Number("x"));
  EXPECT_GT(at("0.20").Number("x"), at("0.10").Number("x"));
  EXPECT_EQ(at("–").Number("y"), at("0.40").Number("y"));
  const auto cells = Select(svg, "g", "cell");
  ASSERT_EQ(cells.size(), 5U);
  EXPECT_THAT(cells[0].attributes.at("style"), HasSubstr("--light:#"));
  for (size_t i = 1; i < cells.size(); ++i) {
    EXPECT_NE(cells[i].attributes.at("style"), cells[i - 1].attributes.at("style"));
  }
}

TEST(HeatMap, EqualValuesManyColumnsAndNoData) {
  HeatMap chart = Surface();
  chart.values.setConstant(0.5);
  EXPECT_EQ(Select(ReadMarkup(RenderSvg(chart)), "rect", "best").size(), 6U);
  chart.values.setConstant(kNoNumber);
  EXPECT_THAT(RenderSvg(chart), HasSubstr("no data"));
  EXPECT_THAT(RenderSvg(HeatMap{}), HasSubstr("no data"));
  chart.x_values.assign(40, 1);
  chart.values = MatrixD::Random(2, 40);
  const auto svg = ReadMarkup(RenderSvg(chart));
  EXPECT_EQ(Select(svg, "rect", "fill").size(), 80U);
  EXPECT_LT(Select(svg, "text").size(), 60U);  // numbers would not fit
}

TEST(HeatMap, RefusesAndEscapes) {
  HeatMap chart = Surface();
  chart.title = chart.x_label = chart.y_label = kHostileLabel;
  EXPECT_EQ(Select(ReadMarkup(RenderSvg(chart)), "text", "heading")[0].text, kHostileLabel);
  chart.x_values.pop_back();
  EXPECT_THROW(RenderSvg(chart), Error);
}

}  // namespace
}  // namespace bitpool
