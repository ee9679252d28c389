#include "bitpool/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bitpool/base/error.h"
#include "bitpool/report/chart.h"
#include "bitpool/report/markup_testing.h"
#include "bitpool/report/page_style.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;
using testing::MarkupElement;
using ::testing::Not;
using testing::ReadMarkup;
using testing::Select;

constexpr const char* kHostile = "</p><script>&\"'";

std::string Figure() {
  return RenderSvg(BarChart{.title = "t", .x_label = "x", .rows = {{"a", 1, "", false}}});
}

ReportTable SmallTable() {
  return {.caption = "Caption",
          .header = {"Method", "8 bits"},
          .rows = {{{"ITQ"}, {"0.31", "± 0.01", false, Align::kRight}},
                   {{"RBA, ours"}, {"0.4", "", true, Align::kRight}}}};
}

Report WholeReport(const std::string& text) {
  Report report(text, text);
  report.AddSection(text);
  report.AddParagraph(text);
  report.AddFacts({{text, text}, {"b", "c"}});
  ReportTable table = SmallTable();
  table.caption = table.header[0] = table.rows[0][0].text = table.rows[0][1].note = text;
  report.AddTable(table);
  report.AddChart(Figure(), text);
  report.AddChart(Figure(), text);
  report.AddParagraph("end");
  report.AddChart(Figure(), "last");
  return report;
}

TEST(Report, IsWellFormedAndKeepsTheOrder) {
  const auto page = ReadMarkup(WholeReport("Title").Html());
  EXPECT_EQ(page[0].name, "html");
  EXPECT_EQ(Select(page, "title")[0].text, "Title");
  EXPECT_EQ(Select(page, "h1")[0].text, "Title");
  EXPECT_EQ(Select(page, "dt").size(), 2U);
  EXPECT_EQ(Select(page, "figure").size(), 3U);
  EXPECT_EQ(Select(page, "div", "figures").size(), 2U);  // neighbours share one
  EXPECT_EQ(Select(page, "tr").size(), 3U);
  std::vector<std::string> order;
  for (const MarkupElement& element : page) {
    for (const char* name : {"h2", "dl", "table", "figure", "footer"}) {
      if (element.name == name) order.push_back(element.name);
    }
  }
  EXPECT_EQ(order, (std::vector<std::string>{"h2", "dl", "table", "figure", "figure", "figure",
                                             "footer"}));
  EXPECT_EQ(WholeReport("Title").Html(), WholeReport("Title").Html());
}

TEST(Report, EscapesAllText) {
  const auto page = ReadMarkup(WholeReport(kHostile).Html());
  EXPECT_TRUE(Select(page, "script").empty());
  for (const char* name : {"title", "h1", "h2", "dt", "dd", "figcaption"}) {
    EXPECT_EQ(Select(page, name).at(0).text, kHostile) << name;
  }
  EXPECT_EQ(Select(page, "p", "caption").at(0).text, kHostile);
  EXPECT_EQ(Select(page, "span", "note").at(0).text, kHostile);
  EXPECT_EQ(Select(page, "div", "scroll").at(0).attributes.at("aria-label"), kHostile);
}

TEST(Report, StandsAlone) {
  const std::string html = WholeReport("Title").Html();
  EXPECT_THAT(html, HasSubstr("<meta name=\"viewport\""));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr("url(")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
  for (const MarkupElement& element : ReadMarkup(html)) {
    EXPECT_EQ(element.attributes.count("src") + element.attributes.count("href"), 0U);
  }
}

TEST(Report, StyleHasBothThemesAndPaper) {
  const std::string style(PageStyle());
  EXPECT_THAT(style, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(style, HasSubstr("@media print"));
  EXPECT_THAT(style, Not(HasSubstr("<")));
  EXPECT_EQ(std::count(style.begin(), style.end(), '{'),
            std::count(style.begin(), style.end(), '}'));
  for (int i = 0; i < 10; ++i) {
    const std::string name = "--s" + std::to_string(i) + ": #";
    const size_t light = style.find(name);
    ASSERT_NE(light, std::string::npos);
    EXPECT_NE(style.find(name, light + 1), std::string::npos);
    EXPECT_THAT(style, HasSubstr("--c: var(--s" + std::to_string(i) + ")"));
  }
}

TEST(Report, HeadingsOfTablesAreNotBrokenBeforeTheirUnit) {
  ReportTable table = SmallTable();
  table.header.back() = "precision at 100, %";
  Report report("t");
  report.AddTable(table);
  EXPECT_THAT(report.Html(), HasSubstr(">precision at 100,\u00a0%</th>"));
}

TEST(Report, Tables) {
  Report report("t");
  report.AddTable(SmallTable());
  const std::string html = report.Html();
  const auto page = ReadMarkup(html);
  EXPECT_THAT(html, HasSubstr("<td class=\"right\"><b>0.4</b>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\" class=\"right\">8 bits</th>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">ITQ</th>"));
  EXPECT_EQ(Select(page, "span", "note").size(), 2U);  // the empty one keeps the place
  EXPECT_EQ(Select(page, "b").size(), 1U);
  EXPECT_THAT(html, Not(HasSubstr("class=\"subtitle\"")));

  ReportTable uneven = SmallTable();
  uneven.rows[1].pop_back();
  EXPECT_THROW(report.AddTable(uneven), Error);
  EXPECT_THROW(TextTable(uneven), Error);
  report.AddTable({.caption = "", .header = {"Method"}, .rows = {}});
  report.AddTable({});
  EXPECT_NO_THROW(ReadMarkup(report.Html()));
}

TEST(Report, SentencesBreakAndLeadToTheirSection) {
  Report report("t");
  report.AddTable(
      {.caption = "c",
       .header = {"a", "b"},
       .rows = {{{.text = "held"},
                 {.text = "A & B", .note = "(x)", .align = Align::kText, .link = "there"}},
                {{.text = "held"}, {.text = "C", .align = Align::kText}}}});
  report.AddSection("There", "there");
  const auto page = ReadMarkup(report.Html());
  EXPECT_EQ(Select(page, "td", "text").size(), 2U);
  ASSERT_EQ(Select(page, "a").size(), 1U);
  EXPECT_EQ(Select(page, "a")[0].attributes.at("href"), "#there");
  EXPECT_EQ(Select(page, "a")[0].text, "A & B");
  EXPECT_EQ(Select(page, "span", "note").size(), 1U) << "a sentence keeps no room for a note";
  EXPECT_EQ(Select(page, "h2")[0].attributes.at("id"), "there");
}

TEST(Report, ChartsAreSvg) {
  Report report("t");
  EXPECT_THROW(report.AddChart("<p>no</p>", "c"), Error);
  EXPECT_THROW(report.AddChart("", "c"), Error);
}

TEST(TextTable, AlignsColumns) {
  EXPECT_EQ(TextTable(SmallTable()),
            "Caption\n"
            "Method           8 bits\n"
            "ITQ         0.31 ± 0.01\n"
            "RBA, ours    0.4*\n");
  EXPECT_EQ(TextTable({}), "\n");
}

TEST(Report, PicturesStandInAStripWithTheirCaptions) {
  Report report("Title");
  report.AddPictures(
      "What <was> found",
      {{.source = "data:image/jpeg;base64,AA==", .caption = "a & b"},
       {.source = "data:image/jpeg;base64,AB==", .caption = "c", .emphasised = true}});
  const std::string html = report.Html();
  EXPECT_NE(html.find("What &lt;was&gt; found"), std::string::npos);
  EXPECT_NE(html.find("<li><img src=\"data:image/jpeg;base64,AA==\" alt=\"a &amp; b\"/>"
                      "<span>a &amp; b</span></li>"),
            std::string::npos);
  EXPECT_NE(html.find("<li class=\"best\"><img src=\"data:image/jpeg;base64,AB==\""),
            std::string::npos);
}

}  // namespace
}  // namespace bitpool
