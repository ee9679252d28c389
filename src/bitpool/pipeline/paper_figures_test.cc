#include "bitpool/pipeline/paper_figures.h"

#include <gtest/gtest.h>

#include <cmath>
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
