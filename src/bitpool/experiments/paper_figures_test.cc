#include "bitpool/experiments/paper_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

namespace bitpool {
namespace {

const std::vector<std::string> kLabels = {"tab:SASH_cifar", "tab:SASH_mnist",
                                          "tab:SASH_cifar_unseen", "tab:SASH_mnist_unseen"};

// NaN when the table has no such figure.
double FigureOf(const std::string& label, std::string_view method, int bits) {
  const PaperTable* table = FindPaperTable(label);
  if (table == nullptr) return std::nan("");
  for (const ExperimentResult& result : PaperResults(*table, {bits})) {
    if (result.method == method && result.bits == bits) return result.mean;
  }
  return std::nan("");
}

TEST(PaperFigures, EveryTableIsComplete) {
  for (const std::string& label : kLabels) {
    const PaperTable* table = FindPaperTable(label);
    ASSERT_NE(table, nullptr) << label;
    EXPECT_EQ(table->label, label);
    EXPECT_EQ(table->rows.size(), 5U) << label;
    for (const PaperTable::Row& row : table->rows) {
      EXPECT_EQ(row.figures.size(), table->bits.size()) << label << " " << row.method;
      for (const double figure : row.figures) {
        EXPECT_TRUE(figure > 0 && figure < 100) << label << " " << row.method;
      }
    }
  }
}

// Copied from the paper by hand, one of each method and length, and of each table.
TEST(PaperFigures, AreThoseOfThePaper) {
  EXPECT_EQ(FigureOf("tab:SASH_cifar", "sash", 8), 53.57);
  EXPECT_EQ(FigureOf("tab:SASH_cifar", "sdh", 24), 45.92);
  EXPECT_EQ(FigureOf("tab:SASH_mnist", "ksh", 48), 79.52);
  EXPECT_EQ(FigureOf("tab:SASH_mnist", "bre", 16), 32.27);
  EXPECT_EQ(FigureOf("tab:SASH_cifar_unseen", "cca-itq", 32), 71.33);
  EXPECT_EQ(FigureOf("tab:SASH_cifar_unseen", "sash", 48), 79.86);
  EXPECT_EQ(FigureOf("tab:SASH_mnist_unseen", "sash", 16), 62.20);
  EXPECT_EQ(FigureOf("tab:SASH_mnist_unseen", "sdh", 8), 53.64);
}

// The paper's source where it is at hand: beside the checkout, or named by the environment.
std::optional<std::string> PaperSource() {
  const char* named = std::getenv("BITPOOL_PAPER");
  const std::filesystem::path beside =
      std::filesystem::path(BITPOOL_SOURCE_DIR) / "../shared/paper/sah.tex";
  std::ifstream file(named != nullptr ? std::filesystem::path(named) : beside);
  if (!file) return {};
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

// The rows of the table with this label that have numbers: all numbers with decimals, in order,
// and the text before the first "&".
struct PrintedRow {
  std::string name;
  std::vector<double> figures;
};

std::string WithoutCitations(std::string text) {
  for (size_t at = text.find("\\cite{"); at != std::string::npos; at = text.find("\\cite{", at)) {
    text.erase(at, std::min(text.find('}', at), text.size() - 1) + 1 - at);
  }
  return text;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Of "10\textbf{20.5} 3.25", 20.5 and 3.25: what has digits on both sides of a point.
std::vector<double> NumbersWithDecimals(const std::string& text) {
  std::vector<double> numbers;
  for (size_t point = text.find('.'); point != std::string::npos; point = text.find('.', point)) {
    size_t begin = point, end = point + 1;
    while (begin > 0 && IsDigit(text[begin - 1])) --begin;
    while (end < text.size() && IsDigit(text[end])) ++end;
    if (begin < point && end > point + 1) {
      numbers.push_back(std::stod(text.substr(begin, end - begin)));
    }
    point = end;
  }
  return numbers;
}

std::vector<PrintedRow> PrintedRows(const std::string& paper, std::string_view label) {
  const size_t end = paper.find("\\label{" + std::string(label) + "}");
  if (end == std::string::npos) return {};
  const size_t begin = paper.rfind("\\begin{tabular}", end);
  std::vector<PrintedRow> rows;
  const std::string text = WithoutCitations(paper.substr(begin, end - begin));
  for (size_t at = 0; at < text.size();) {
    const size_t stop = std::min(text.find("\\\\", at), text.size());
    const std::string row = text.substr(at, stop - at);
    at = stop + 2;
    PrintedRow found{.name = row.substr(0, row.find('&')), .figures = NumbersWithDecimals(row)};
    if (!found.figures.empty()) rows.push_back(found);
  }
  return rows;
}

// How the paper writes a method, which stands in the row's name after its last space or brace.
std::string PrintedName(std::string_view label, std::string_view method) {
  if (label == "tab:deepbit") {
    const std::map<std::string_view, std::string> names = {
        {"itq-gist", "ITQ"},      {"kmh-gist", "KMH"},
        {"sph-gist", "SPH"},      {"deepbit", "DeepBit"},
        {"itq", "ITQ-CNN"},       {"kmh", "KMH-CNN"},
        {"sph", "SPH-CNN"},       {"sah", "SAH"},
        {"graphbit", "GraphBit"}, {"deepbit-imp", "DeepBit-imp."}};
    return names.at(method);
  }
  std::string name(method);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

std::string LastWord(std::string text) {
  std::ranges::replace(text, '~', ' ');
  while (!text.empty() && (std::isspace(static_cast<unsigned char>(text.back())) != 0)) {
    text.pop_back();
  }
  return text.substr(text.find_last_of(" \n\t}") + 1);
}

// Every number of every table, against the paper's LaTeX source.
TEST(PaperFigures, AreAllNumbersOfTheSource) {
  const std::optional<std::string> paper = PaperSource();
  if (!paper) GTEST_SKIP() << "the paper is not here; name sah.tex with BITPOOL_PAPER";
  std::map<std::string_view, std::vector<const PaperTable*>> by_label;
  for (const PaperTable& table : PaperTables()) by_label[table.label].push_back(&table);
  for (const auto& [label, tables] : by_label) {
    const std::vector<PrintedRow> rows = PrintedRows(*paper, label);
    ASSERT_FALSE(rows.empty()) << label;
    size_t ours = 0, printed = 0;
    for (const PrintedRow& row : rows) printed += row.figures.size();
    for (size_t part = 0; part < tables.size(); ++part) {
      const PaperTable& table = *tables[part];
      for (size_t i = 0; i < table.rows.size(); ++i) {
        const PaperTable::Row& row = table.rows[i];
        ours += row.figures.size();
        std::vector<double> expected;
        if (label == "tab:SAH_SIFT_conv") {  // SIFT and Conv. of one set after the other
          expected = rows.at(2 * part + i).figures;
        } else {
          const auto found = std::ranges::find_if(rows, [&](const PrintedRow& candidate) {
            return LastWord(candidate.name) == PrintedName(label, row.method);
          });
          ASSERT_NE(found, rows.end()) << label << " " << row.method;
          const size_t width = table.bits.size();
          ASSERT_GE(found->figures.size(), (part + 1) * width) << label << " " << row.method;
          const auto first = found->figures.begin() + static_cast<std::ptrdiff_t>(part * width);
          expected.assign(first, first + static_cast<std::ptrdiff_t>(width));
        }
        EXPECT_EQ(row.figures, expected) << label << " " << row.method;
      }
    }
    EXPECT_EQ(ours, printed) << label << ": not every number of the table is there";
  }
  const std::vector<PrintedRow> times = PrintedRows(*paper, "tab:computation_time");
  ASSERT_EQ(times.size(), 1U) << "only one row has decimals";
  EXPECT_EQ(times[0].figures,
            (std::vector<double>{PaperStepTimes()[1].sah_ms, PaperStepTimes()[1].others_ms}));
  EXPECT_NE(paper->find("$\\approx 80$ ms"), std::string::npos);
  EXPECT_EQ(PaperStepTimes()[0].sah_ms, 80);
  EXPECT_NE(paper->find("$<1$ ms & $<1$ ms"), std::string::npos);
  EXPECT_TRUE(PaperStepTimes()[2].at_most && PaperStepTimes()[2].sah_ms == 1);
}

TEST(PaperFigures, OnlyTheAskedLengthsAreGiven) {
  const PaperTable* table = FindPaperTable("tab:SASH_cifar");
  ASSERT_NE(table, nullptr);
  const auto results = PaperResults(*table, {32, 7, 16});
  ASSERT_EQ(results.size(), 2 * table->rows.size());
  for (const ExperimentResult& result : results) {
    EXPECT_TRUE(result.bits == 16 || result.bits == 32) << result.bits;
    EXPECT_EQ(result.metric, "paper_mAP");
    EXPECT_EQ(result.seeds, 1);
    EXPECT_EQ(result.spread, 0);
  }
  EXPECT_TRUE(PaperResults(*table, {}).empty());
}

TEST(PaperFigures, OtherLabelsHaveNoTable) {
  EXPECT_EQ(FindPaperTable("tab:SASH_imagenet"), nullptr);
  EXPECT_EQ(FindPaperTable(""), nullptr);
}

}  // namespace
}  // namespace bitpool
