#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench.h"
#include "config.h"
#include "duplicates_bench.h"
#include "quantisation_bench.h"
#include "table.h"

namespace bitpool::app {
namespace {

std::string ReadableQuantisation(const nlohmann::json& found) {
  std::vector<std::vector<std::string>> rows = {{"bits", "way", "mAP, %", "±"}};
  for (const nlohmann::json& result : found["results"]) {
    rows.push_back({result["bits"].dump(), result["way"].get<std::string>(),
                    fmt::format("{:.2f}", result["mAP"].get<double>()),
                    fmt::format("{:.2f}", result["spread"].get<double>())});
  }
  return FormatTable(rows);
}

std::string ReadableDuplicates(const nlohmann::json& found) {
  std::vector<std::vector<std::string>> rows = {{"edit", "recall@1, %", "Hamming, %"}};
  const auto add = [&](const std::string& name, const nlohmann::json& recall) {
    const auto percent = [&](const char* key) {
      return fmt::format("{:.1f}", 100 * recall[key].get<double>());
    };
    rows.push_back({name, percent("recall_at_1"), percent("recall_at_1_hamming")});
  };
  for (const auto& [name, recall] : found["edits"].items()) add(name, recall);
  add("all", found["all"]);
  std::vector<std::vector<std::string>> radii = {{"radius", "found, %", "right, %"}};
  for (const nlohmann::json& row : found["distances"]) {
    radii.push_back({row["radius"].dump(), fmt::format("{:.1f}", 100 * row["found"].get<double>()),
                     fmt::format("{:.2f}", 100 * row["precision"].get<double>())});
  }
  return fmt::format("{} pictures, codes of {} bits\n", found["pictures"].dump(),
                     found["bits"].dump()) +
         FormatTable(rows) + "\n" + FormatTable(radii);
}

}  // namespace

void AddQuantisationBench(CLI::App* parent, Session& session) {
  const auto options = std::make_shared<bench::QuantisationBenchOptions>();
  CLI::App* command = parent->add_subcommand(
      "quantisation", "Accuracy beside product quantisation of the same size, on Holidays");
  command->add_option("--features", options->training, "Local features to learn from (.bpf)")
      ->required();
  command->add_option("--database", options->database, "Those of the Holidays pictures (.bpf)")
      ->required();
  command->add_option("--bits", options->bits, "Of a stored vector")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--seeds", options->seeds, "Runs")->capture_default_str();
  command->add_option("--mu", options->mu, "Of generalised max pooling")->capture_default_str();
  const auto configs = std::make_shared<std::vector<std::string>>();
  command->add_option("--config", *configs, "Constants that tune has written, for each method");
  command->footer(
      "Example:\n  bitpool-bench quantisation --features train.bpf --database holidays.bpf");
  command->callback([options, configs, &session] {
    session.action = [options, configs, &session] {
      for (const std::string& file : *configs) {
        options->constants.push_back(LoadConfig(file, {.method = MethodOfConfig(file)}));
      }
      return Show(session, bench::RunQuantisationBench(*options, session.MakeContext()),
                  &ReadableQuantisation);
    };
  });
}

void AddDuplicatesBench(CLI::App* parent, Session& session) {
  const auto options = std::make_shared<bench::DuplicatesBenchOptions>();
  CLI::App* command =
      parent->add_subcommand("duplicates", "How often edited copies find their picture");
  command->add_option("--pictures", options->pictures, "Folder of pictures")->required();
  command->add_option("--limit", options->limit, "Only the first so many")->capture_default_str();
  command->add_option("--bits", options->bits, "Length of the codes")->capture_default_str();
  command->footer("Example:\n  bitpool-bench duplicates --pictures photos --limit 500 --json");
  command->callback([options, &session] {
    session.action = [options, &session] {
      return Show(session, bench::RunDuplicatesBench(*options, session.MakeContext()),
                  &ReadableDuplicates);
    };
  });
}

}  // namespace bitpool::app
