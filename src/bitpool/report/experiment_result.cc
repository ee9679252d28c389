#include "bitpool/report/experiment_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/report/report_text.h"
#include "bitpool/version.h"

namespace bitpool {
namespace {

nlohmann::json NumberOrNull(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

double NumberOrNan(const nlohmann::json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

// The results of one metric, by method and bits.
struct Grid {
  std::vector<std::string> methods;
  std::vector<int> bits;
  std::map<std::pair<std::string, int>, ExperimentResult> results;

  // Null when this was not measured.
  const ExperimentResult* Find(const std::string& method, int length) const {
    const auto found = results.find({method, length});
    return found == results.end() ? nullptr : &found->second;
  }
};

Grid GridOf(const Experiment& experiment, std::string_view metric) {
  Grid grid;
  std::set<int> bits;
  for (const ExperimentResult& result : experiment.results) {
    if (result.metric != metric) continue;
    if (!grid.results.insert({{result.method, result.bits}, result}).second) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("experiment \"{}\": two results of {} with {} bits for {}",
                              experiment.name, result.method, result.bits, metric));
    }
    if (std::find(grid.methods.begin(), grid.methods.end(), result.method) == grid.methods.end()) {
      grid.methods.push_back(result.method);
    }
    bits.insert(result.bits);
  }
  grid.bits.assign(bits.begin(), bits.end());
  return grid;
}

// The best mean of a code length as it is shown; nothing equals it when none is finite.
std::string BestText(const Grid& grid, int bits, std::string_view format, bool higher_is_better) {
  double best = std::numeric_limits<double>::quiet_NaN();
  for (const std::string& method : grid.methods) {
    const ExperimentResult* result = grid.Find(method, bits);
    if (result == nullptr || !std::isfinite(result->mean)) continue;
    const bool better = higher_is_better ? result->mean > best : result->mean < best;
    if (std::isnan(best) || better) best = result->mean;
  }
  return std::isnan(best) ? "" : FormatNumber(format, best);
}

ReportCell CellOf(const ExperimentResult* result, std::string_view format,
                  const std::string& best) {
  ReportCell cell{.text = std::string(kMissing), .align = Align::kRight};
  if (result == nullptr) return cell;
  cell.text = FormatNumber(format, result->mean);
  cell.emphasised = cell.text == best;
  if (std::isfinite(result->mean) && result->spread > 0) {
    cell.note = "± " + FormatNumber(format, result->spread);
  }
  return cell;
}

// Code lengths that double each time would crowd at the left of a linear axis.
bool SpreadsOverDecades(const std::vector<int>& bits) {
  if (bits.size() < 3 || bits.front() < 1) return false;
  int narrowest = std::numeric_limits<int>::max();
  for (size_t i = 1; i < bits.size(); ++i) narrowest = std::min(narrowest, bits[i] - bits[i - 1]);
  return 16 * narrowest < bits.back() - bits.front();
}

std::string FactText(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return std::string(kMissing);
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return FormatNumber("{:.6g}", value.get<double>());
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const nlohmann::json& element : value)
    text += (text.empty() ? "" : ", ") + FactText(element);
  return text;
}

void AppendFacts(const nlohmann::json& object, const std::string& prefix, ReportFacts& facts) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object()) {
      AppendFacts(value, prefix + name + ".", facts);
    } else {
      facts.emplace_back(prefix + name, FactText(value));
    }
  }
}

std::string Compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

ExperimentResult SummariseRuns(std::string method, int bits, std::string metric,
                               const std::vector<double>& figures) {
  ExperimentResult result{.method = std::move(method), .bits = bits, .metric = std::move(metric)};
  const auto count = static_cast<double>(figures.size());
  for (const double figure : figures) result.mean += figure / count;
  double squares = 0;
  for (const double figure : figures) squares += std::pow(figure - result.mean, 2);
  result.spread = figures.size() < 2 ? 0 : std::sqrt(squares / (count - 1));
  result.seeds = static_cast<int>(figures.size());
  result.each = figures;
  return result;
}

nlohmann::json ToJson(const Experiment& experiment) {
  nlohmann::json results = nlohmann::json::array();
  for (const ExperimentResult& result : experiment.results) {
    results.push_back({{"method", result.method},
                       {"bits", result.bits},
                       {"metric", result.metric},
                       {"mean", NumberOrNull(result.mean)},
                       {"spread", NumberOrNull(result.spread)},
                       {"seeds", result.seeds}});
    for (const double figure : result.each) results.back()["each"].push_back(NumberOrNull(figure));
  }
  return {{"experiment", experiment.name},   {"title", experiment.title},
          {"settings", experiment.settings}, {"data", experiment.data},
          {"machine", experiment.machine},   {"results", std::move(results)}};
}

Experiment ExperimentFromJson(const nlohmann::json& json) {
  try {
    Experiment experiment{.name = json.at("experiment"),
                          .title = json.at("title"),
                          .settings = json.at("settings"),
                          .data = json.at("data"),
                          .machine = json.at("machine"),
                          .results = {}};
    for (const nlohmann::json& result : json.at("results")) {
      experiment.results.push_back({.method = result.at("method"),
                                    .bits = result.at("bits"),
                                    .metric = result.at("metric"),
                                    .mean = NumberOrNan(result.at("mean")),
                                    .spread = NumberOrNan(result.at("spread")),
                                    .seeds = result.at("seeds")});
      if (!result.contains("each")) continue;
      for (const nlohmann::json& figure : result.at("each")) {
        experiment.results.back().each.push_back(NumberOrNan(figure));
      }
    }
    return experiment;
  } catch (const nlohmann::json::exception& problem) {
    throw Error(
        ErrorCode::kCorrupt,
        fmt::format("results of an experiment: not of the expected shape: {}", problem.what()));
  }
}

ReportTable TableOf(const Experiment& experiment, std::string_view metric,
                    std::string_view number_format, bool higher_is_better) {
  const Grid grid = GridOf(experiment, metric);
  ReportTable table{.caption = std::string(metric), .header = {"Method"}, .rows = {}};
  std::vector<std::string> best;
  for (const int bits : grid.bits) {
    table.header.push_back(fmt::format("{} bits", bits));
    best.push_back(BestText(grid, bits, number_format, higher_is_better));
  }
  for (const std::string& method : grid.methods) {
    auto& row = table.rows.emplace_back();
    row.push_back({.text = method});
    for (size_t i = 0; i < grid.bits.size(); ++i) {
      row.push_back(CellOf(grid.Find(method, grid.bits[i]), number_format, best[i]));
    }
  }
  return table;
}

ReportTable MapTableOf(const Experiment& experiment, std::string_view number_format) {
  ReportTable table = TableOf(experiment, kMap, number_format, true);
  const ReportTable asymmetric = TableOf(experiment, kAsymmetricMap, number_format, true);
  if (asymmetric.header != table.header) return table;
  std::vector<std::vector<ReportCell>> rows;
  for (std::vector<ReportCell>& row : table.rows) {
    const std::string method = row.front().text;
    rows.push_back(std::move(row));
    const auto same = std::ranges::find_if(
        asymmetric.rows, [&](const auto& other) { return other.front().text == method; });
    if (same == asymmetric.rows.end()) continue;
    rows.push_back(*same);
    rows.back().front().text += ", asymmetric";
  }
  table.rows = std::move(rows);
  return table;
}

void AddMapTable(const Experiment& experiment, std::string_view caption, Report& report) {
  ReportTable table = MapTableOf(experiment, "{:.2f}");
  table.caption = caption;
  report.AddTable(table);
  report.AddParagraph(
      "Asymmetric: the database is the same codes, but the queries are real numbers that weigh "
      "their bits.");
}

LineChart ChartOf(const Experiment& experiment, std::string_view metric, std::string_view title,
                  std::string_view y_label, const std::vector<std::string>& emphasised_methods) {
  const Grid grid = GridOf(experiment, metric);
  LineChart chart{.title = std::string(title),
                  .x_label = "Code length (bits)",
                  .y_label = std::string(y_label),
                  .series = {},
                  .log_x = SpreadsOverDecades(grid.bits),
                  .log_y = false,
                  .x_ticks = {grid.bits.begin(), grid.bits.end()}};
  for (const std::string& method : grid.methods) {
    Series& series = chart.series.emplace_back();
    series.name = method;
    series.emphasised = std::find(emphasised_methods.begin(), emphasised_methods.end(), method) !=
                        emphasised_methods.end();
    for (const int bits : grid.bits) {
      const ExperimentResult* result = grid.Find(method, bits);
      series.x.push_back(bits);
      series.y.push_back(result ? result->mean : std::numeric_limits<double>::quiet_NaN());
      series.spread.push_back(result ? result->spread : 0);
    }
  }
  return chart;
}

nlohmann::json DescribeMachine(const MachineFacts& facts) {
  nlohmann::json machine = {{"cpu", facts.cpu},
                            {"threads", facts.threads},
                            {"compiler", Compiler()},
                            {"bitpool", Version()}};
  if (!facts.blas.empty()) machine["blas"] = facts.blas;
  return machine;
}

ReportFacts FactsOf(const nlohmann::json& object) {
  ReportFacts facts;
  AppendFacts(object, "", facts);
  return facts;
}

void AddHowItWasMeasured(const Experiment& experiment, Report& report) {
  report.AddSection("How it was measured");
  for (const nlohmann::json* facts :
       {&experiment.settings, &experiment.data, &experiment.machine}) {
    report.AddFacts(FactsOf(*facts));
  }
}

}  // namespace bitpool
