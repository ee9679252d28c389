#include "bitpool/pipeline/paper_figures.h"

#include <algorithm>

namespace bitpool {
namespace {

const std::vector<PaperTable>& PaperTables() {
  static const std::vector<int> lengths = {8, 16, 24, 32, 48};
  static const std::vector<PaperTable> tables = {
      {"tab:SASH_cifar",
       lengths,
       {{"sash", {53.57, 57.45, 61.33, 62.82, 63.65}},
        {"sdh", {40.35, 43.83, 45.92, 47.56, 48.69}},
        {"ksh", {32.80, 37.55, 39.13, 40.57, 41.81}},
        {"bre", {19.15, 22.37, 24.11, 25.59, 26.50}},
        {"cca-itq", {35.44, 38.85, 41.21, 43.77, 45.30}}}},
      {"tab:SASH_mnist",
       lengths,
       {{"sash", {75.48, 79.34, 81.02, 83.63, 84.51}},
        {"sdh", {69.23, 76.31, 78.12, 80.91, 81.63}},
        {"ksh", {65.40, 73.81, 76.09, 78.44, 79.52}},
        {"bre", {27.17, 32.27, 38.38, 40.24, 42.37}},
        {"cca-itq", {58.18, 64.24, 68.07, 69.42, 70.92}}}},
      {"tab:SASH_cifar_unseen",
       lengths,
       {{"sash", {70.08, 74.46, 77.22, 78.33, 79.86}},
        {"sdh", {47.43, 58.41, 61.83, 60.08, 62.60}},
        {"ksh", {62.41, 64.11, 62.13, 64.40, 62.61}},
        {"bre", {52.55, 51.20, 53.10, 55.73, 54.34}},
        {"cca-itq", {65.48, 69.94, 70.72, 71.33, 71.83}}}},
      {"tab:SASH_mnist_unseen",
       lengths,
       {{"sash", {59.10, 62.20, 63.31, 63.94, 64.21}},
        {"sdh", {53.64, 55.80, 57.31, 58.14, 59.69}},
        {"ksh", {50.27, 55.64, 57.21, 58.31, 58.85}},
        {"bre", {50.03, 53.43, 55.52, 56.91, 57.11}},
        {"cca-itq", {52.40, 56.36, 58.71, 59.82, 60.25}}}}};
  return tables;
}

}  // namespace

const PaperTable* FindPaperTable(std::string_view label) {
  const auto& tables = PaperTables();
  const auto found = std::ranges::find(tables, label, &PaperTable::label);
  return found == tables.end() ? nullptr : &*found;
}

std::vector<ExperimentResult> PaperResults(const PaperTable& table, const std::vector<int>& bits) {
  std::vector<ExperimentResult> results;
  for (const PaperTable::Row& row : table.rows) {
    for (size_t i = 0; i < table.bits.size(); ++i) {
      if (std::ranges::find(bits, table.bits[i]) == bits.end()) continue;
      results.push_back(
          SummariseRuns(std::string(row.method), table.bits[i], "paper_mAP", {row.figures[i]}));
    }
  }
  return results;
}

}  // namespace bitpool
