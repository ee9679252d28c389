#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bitpool/eval/experiment_result.h"

namespace bitpool {

// A table of the paper, by its label there.
struct PaperTable {
  struct Row {
    std::string_view method;  // as we name it
    std::vector<double> figures;
  };

  std::string_view label;
  std::vector<int> bits;
  std::vector<Row> rows;
};

// Null when there is no such table.
const PaperTable* FindPaperTable(std::string_view label);

// The table's figures as results of the metric "paper_mAP", those of the asked lengths only.
std::vector<ExperimentResult> PaperResults(const PaperTable& table, const std::vector<int>& bits);

}  // namespace bitpool
