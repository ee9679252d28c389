#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/report/experiment_result.h"

namespace bitpool {

// A table of the paper by its label there, or the part of one that is about one data set. Figures
// are mAP in percent, as printed.
struct PaperTable {
  struct Row {
    std::string_view method;  // as we name it
    std::vector<double> figures;
  };

  std::string_view label;
  std::vector<int> bits;
  std::vector<Row> rows;
  std::string_view set = {};  // the data set, where the table has several
};

// All tables of results except that of times.
std::span<const PaperTable> PaperTables();

// Null when there is no such table.
const PaperTable* FindPaperTable(std::string_view label, std::string_view set = {});

// The table's figures as results of the metric "paper_mAP", for the requested lengths only.
std::vector<ExperimentResult> PaperResults(const PaperTable& table, const std::vector<int>& bits);
inline constexpr const char* kPaperMap = "paper_mAP";

// A row of tab:computation_time.
struct PaperStepTime {
  std::string_view step;
  double sah_ms;
  double others_ms;
  bool at_most;  // printed as "<"
};
std::span<const PaperStepTime> PaperStepTimes();

}  // namespace bitpool
