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
  const auto percent = [](const nlohmann::json& share, int digits) {
    return fmt::format("{:.{}f}", 100 * share.get<double>(), digits);
  };
  std::vector<std::vector<std::string>> rows = {
      {"edit", "first, %", "first by Hamming, %",
       fmt::format("within {} bits, %", found["radius"].dump()), "joined by dedupe, %",
       fmt::format("perceptual hash within {}, %", found["hash_radius"].dump())}};
  const auto add = [&](const std::string& name, const nlohmann::json& recall) {
    rows.push_back({name, percent(recall["recall_at_1"], 1),
                    percent(recall["recall_at_1_hamming"], 1), percent(recall["within_radius"], 1),
                    percent(recall["dedupe_recall"], 1), percent(recall["hash_within_radius"], 1)});
  };
  for (const auto& [name, recall] : found["edits"].items()) add(name, recall);
  add("all", found["all"]);
  std::vector<std::vector<std::string>> radii = {{"radius", "found, %", "right, %",
                                                  "pairs for a right one", "hash: found, %",
                                                  "hash: right, %"}};
  const nlohmann::json& hashes = found["hash_distances"];
  for (const nlohmann::json& row : found["distances"]) {
    radii.push_back({row["radius"].dump(), percent(row["found"], 1), percent(row["precision"], 2),
                     fmt::format("{:.2f}", row["candidates"].get<double>())});
    if (radii.size() > hashes.size() + 1) continue;
    const nlohmann::json& hash = hashes[radii.size() - 2];
    radii.back().insert(radii.back().end(),
                        {percent(hash["found"], 1), percent(hash["precision"], 2)});
  }
  return fmt::format(
             "{} pictures, codes of {} bits; of the pairs that dedupe joins, {} % are right\n",
             found["pictures"].dump(), found["bits"].dump(),
             percent(found["dedupe_precision"], 2)) +
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
  command->add_option("--limit", options->limit, "Only this many, the first")
      ->capture_default_str();
  command->add_option("--bits", options->bits, "Length of the codes")->capture_default_str();
  command->add_option("--coder", options->coder,
                      "Coder to use (.bpc) instead of the one that `bitpool index` would use");
  command->footer("Example:\n  bitpool-bench duplicates --pictures photos --limit 500 --json");
  command->callback([options, &session] {
    session.action = [options, &session] {
      return Show(session, bench::RunDuplicatesBench(*options, session.MakeContext()),
                  &ReadableDuplicates);
    };
  });
}

}  // namespace bitpool::app
