#include "bitpool/experiments/paper_figures.h"

#include <algorithm>

namespace bitpool {

// Rows of tab:deepbit: "itq", "kmh" and "sph" are the paper's ITQ-CNN, KMH-CNN and SPH-CNN; those
// of GIST are cited there from others.
std::span<const PaperTable> PaperTables() {
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
      {"tab:SASH_NUS-WIDE",
       lengths,
       {{"sash", {64.01, 67.10, 67.63, 68.01, 68.75}},
        {"sdh", {63.07, 66.89, 67.36, 67.79, 68.10}},
        {"ksh", {62.97, 66.51, 67.42, 67.59, 67.94}},
        {"bre", {34.87, 36.34, 37.19, 38.14, 39.94}},
        {"cca-itq", {56.59, 59.98, 61.45, 61.75, 62.45}}}},
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
        {"cca-itq", {52.40, 56.36, 58.71, 59.82, 60.25}}}},
      {"tab:SASH_NUS-WIDE_unseen",
       lengths,
       {{"sash", {42.62, 44.26, 45.05, 45.43, 46.71}},
        {"sdh", {34.92, 43.45, 43.35, 43.89, 44.55}},
        {"ksh", {36.18, 38.84, 39.88, 40.08, 40.98}},
        {"bre", {34.10, 33.95, 35.22, 36.14, 35.79}},
        {"cca-itq", {37.81, 42.93, 43.92, 44.31, 44.85}}}},
      {"tab:SASH_deep_unseen",
       {24, 32, 48},
       {{"sash", {77.22, 78.33, 79.86}},
        {"dqn", {75.15, 76.05, 76.78}},
        {"dhn", {74.53, 75.95, 76.59}},
        {"dsdh", {74.37, 75.41, 76.23}}},
       "cifar10"},
      {"tab:SASH_deep_unseen",
       {24, 32, 48},
       {{"sash", {63.31, 63.94, 64.21}},
        {"dqn", {59.68, 61.32, 63.76}},
        {"dhn", {60.10, 62.57, 63.43}},
        {"dsdh", {62.78, 63.18, 64.05}}},
       "mnist"},
      {"tab:SASH_deep_unseen",
       {24, 32, 48},
       {{"sash", {45.05, 45.53, 46.71}},
        {"dqn", {43.37, 43.78, 44.24}},
        {"dhn", {44.65, 45.03, 44.98}},
        {"dsdh", {39.05, 40.02, 40.58}}},
       "nus-wide"},
      {"tab:deepbit",
       {16, 32, 64},
       {{"sah", {41.75, 45.56, 47.36}},
        {"itq-gist", {15.67, 16.20, 16.64}},
        {"kmh-gist", {13.59, 13.93, 14.46}},
        {"sph-gist", {13.98, 14.58, 15.38}},
        {"deepbit", {19.43, 24.86, 27.73}},
        {"deepbit-imp", {26.36, 27.92, 34.05}},
        {"graphbit", {32.15, 36.74, 39.90}},
        {"itq", {38.52, 41.39, 44.17}},
        {"kmh", {36.02, 38.18, 40.11}},
        {"sph", {30.19, 35.63, 39.23}}}},
      {"tab:SADH", {16, 32, 64}, {{"sah", {36.76, 37.85, 38.52}}, {"sadh", {38.70, 38.49, 37.68}}}},
      {"tab:SAH_SIFT_conv",
       {8, 16, 24, 32},
       {{"sah, SIFT", {9.13, 18.11, 24.77, 29.38}}, {"sah, CNN", {7.61, 21.41, 31.50, 39.65}}},
       "holidays"},
      {"tab:SAH_SIFT_conv",
       {8, 16, 24, 32},
       {{"sah, SIFT", {8.16, 11.52, 13.74, 15.43}}, {"sah, CNN", {7.45, 12.79, 15.66, 18.00}}},
       "oxford5k"},
      {"tab:SAH_SIFT_conv",
       {8, 16, 24, 32},
       {{"sah, SIFT", {7.84, 10.17, 12.57, 14.36}}, {"sah, CNN", {7.52, 15.13, 22.51, 28.30}}},
       "holidays+flickr100k"}};
  return tables;
}

const PaperTable* FindPaperTable(std::string_view label, std::string_view set) {
  for (const PaperTable& table : PaperTables()) {
    if (table.label == label && table.set == set) return &table;
  }
  return nullptr;
}

std::vector<ExperimentResult> PaperResults(const PaperTable& table, const std::vector<int>& bits) {
  std::vector<ExperimentResult> results;
  for (const PaperTable::Row& row : table.rows) {
    for (size_t i = 0; i < table.bits.size(); ++i) {
      if (std::ranges::find(bits, table.bits[i]) == bits.end()) continue;
      results.push_back(
          SummariseRuns(std::string(row.method), table.bits[i], kPaperMap, {row.figures[i]}));
    }
  }
  return results;
}

std::span<const PaperStepTime> PaperStepTimes() {
  static const std::vector<PaperStepTime> times = {
      {.step = "extract", .sah_ms = 80, .others_ms = 80, .at_most = false},
      {.step = "pool", .sah_ms = 6.3, .others_ms = 4.1, .at_most = false},
      {.step = "encode", .sah_ms = 1, .others_ms = 1, .at_most = true}};
  return times;
}

}  // namespace bitpool
