#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/report/chart.h"
#include "bitpool/report/report.h"

namespace bitpool {

// One figure an experiment found.
struct ExperimentResult {
  std::string method;
  int bits = 0;
  std::string metric;
  double mean = 0;    // over the seeds
  double spread = 0;  // standard deviation over the seeds, 0 for one
  int seeds = 1;
  // One figure per seed, so that methods can be compared seed by seed; empty where they were not
  // kept.
  std::vector<double> each = {};
};

// Mean and standard deviation over the runs of one method and length, one figure per seed.
// REQUIRES: at least one.
ExperimentResult SummariseRuns(std::string method, int bits, std::string metric,
                               const std::vector<double>& figures);

// What every experiment leaves behind.
struct Experiment {   // NOLINT(bugprone-exception-escape): a move of JSON only asserts
  std::string name;   // of the program that made it, such as "retrieval"
  std::string title;  // for readers
  nlohmann::json settings;
  nlohmann::json data;
  nlohmann::json machine;
  std::vector<ExperimentResult> results;  // one per method, bits and metric
};

// {"experiment", "title", "settings", "data", "machine", "results": [{"method", "bits", "metric",
// "mean", "spread", "seeds", and "each" where it was kept}, …]}; a number that is not finite is
// null.
nlohmann::json ToJson(const Experiment& experiment);

// The reverse; null is NaN. Throws kCorrupt for JSON of another shape.
Experiment ExperimentFromJson(const nlohmann::json& json);

// Methods (in the order they first appear) by bits (ascending), "mean ± spread". In each column the
// best is emphasised, and all that look equal to it in this number format. Throws kInvalidArgument
// for two results of the same method, bits and metric.
ReportTable TableOf(const Experiment& experiment, std::string_view metric,
                    std::string_view number_format, bool higher_is_better);

// The metrics of codes that are searched by Hamming distance, and of the same codes searched with
// real numbers.
inline constexpr const char* kMap = "mAP";
inline constexpr const char* kAsymmetricMap = "asymmetric_mAP";

// The table of kMap with a line for kAsymmetricMap after that of each method, where it was
// measured, so that nobody mistakes the gain of searching with real numbers for that of a method.
// The best of each metric is emphasised.
ReportTable MapTableOf(const Experiment& experiment, std::string_view number_format);

// Adds that table, and says what its lines are.
void AddMapTable(const Experiment& experiment, std::string_view caption, Report& report);

// A line per method over the bits. Throws as TableOf.
LineChart ChartOf(const Experiment& experiment, std::string_view metric, std::string_view title,
                  std::string_view y_label, const std::vector<std::string>& emphasised_methods);

// What the caller knows of the machine; this room reads no files.
struct MachineFacts {
  std::string cpu;        // model name
  int threads = 0;        // those used
  std::string blas = {};  // its configuration, left out if empty
};

// {"cpu", "threads", "compiler", "bitpool", "blas"}
nlohmann::json DescribeMachine(const MachineFacts& facts);

// The members of a JSON object as text, those of objects inside it as "outer.inner", for
// Report::AddFacts.
ReportFacts FactsOf(const nlohmann::json& object);

// The last section of every report: settings, data and machine.
void AddHowItWasMeasured(const Experiment& experiment, Report& report);

}  // namespace bitpool
