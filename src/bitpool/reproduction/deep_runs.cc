#include <fmt/format.h>

#include <span>
#include <string_view>

#include "bitpool/base/error.h"
#include "bitpool/io/checksum.h"
#include "bitpool/reproduction/plan.h"

// The results of research/deep, as they lie in the repository, between two symbols of the program.
asm(".pushsection .rodata\n"
    ".local bitpool_deep_results_begin\n"
    "bitpool_deep_results_begin:\n"
    ".incbin \"" BITPOOL_DEEP_RESULTS
    "\"\n"
    ".local bitpool_deep_results_end\n"
    "bitpool_deep_results_end:\n"
    ".popsection\n");
extern "C" {
extern const char bitpool_deep_results_begin[] __attribute__((visibility("hidden")));
extern const char bitpool_deep_results_end[] __attribute__((visibility("hidden")));
}

namespace bitpool {
namespace {

using nlohmann::json;

constexpr const char* kDeepNetwork = "resnet50";

std::string_view ResultsText() { return {bitpool_deep_results_begin, bitpool_deep_results_end}; }

// The rows of one set in the setting of unseen classes.
std::vector<json> RowsOf(const json& results, const std::string& set) {
  std::vector<json> rows;
  for (const json& row : results.at("runs")) {
    if (row.at("setting") == "unseen" && row.at("dataset") == set &&
        row.at("network") == kDeepNetwork) {
      rows.push_back(row);
    }
  }
  return rows;
}

json SettingsOf(const json& results, const json& row) {
  return {{"network", kDeepNetwork},
          {"trained_by", "research/deep, the whole network, on a GPU"},
          {"commit", results.at("commit")},
          {"machine", row.at("machine")},
          {"torch", row.at("torch")},
          {"pixels", row.at("size")},
          {"choice_of_constants", "rates on splits nested in the training pictures"}};
}

Experiment MakeDeepExperiment(const std::string& set, FigureStore& figures) {
  const json results = json::parse(ResultsText());
  const std::vector<json> rows = RowsOf(results, set);
  Experiment experiment;
  experiment.name = "deep";
  experiment.title = "Deep methods on classes that were never seen: " + set;
  experiment.settings = SettingsOf(results, rows.at(0));
  experiment.data["set"] = set;
  experiment.machine = {{"gpu", rows.at(0).at("machine")}};
  for (const json& row : rows) {
    const auto method = row.at("method").get<std::string>();
    const int bits = row.at("bits").get<int>();
    std::vector<double> of_seeds;
    for (const auto& [seed, value] : row.at("seeds").items()) {
      of_seeds.push_back(value.get<double>());
      figures.Keep({method, bits, std::stoull(seed)}, {.metrics = {{kMap, of_seeds.back()}}});
    }
    experiment.results.push_back(SummariseRuns(method, bits, kMap, of_seeds));
  }
  return experiment;
}

}  // namespace

std::vector<RunSpec> DeepRuns() {
  const std::string digest = ContentDigest(std::as_bytes(std::span(ResultsText()))).substr(0, 12);
  std::vector<RunSpec> runs;
  for (const char* set : {"cifar10", "mnist"}) {
    runs.push_back({.name = fmt::format("deep-{}-unseen", set),
                    .settings = {{"set", set}, {"results", digest}},
                    .needs = {},
                    .after = {},
                    .minutes = 0,
                    .make = [set = std::string(set)](const RunSite& site) {
                      return MakeDeepExperiment(set, site.figures);
                    }});
  }
  return runs;
}

}  // namespace bitpool
