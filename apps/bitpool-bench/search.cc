#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "asymmetric_bench.h"
#include "bench.h"
#include "hamming_bench.h"
#include "table.h"

namespace bitpool::app {
namespace {

std::string Figure(const nlohmann::json& value) {
  if (value.is_null()) return "not measured";
  return fmt::format("{:.{}f}", value.get<double>(), value.get<double>() < 100 ? 1 : 0);
}

std::string ReadableHamming(const nlohmann::json& found) {
  std::vector<std::vector<std::string>> rows = {{"what", "queries/s", "times the plain scan"}};
  const double scan = found["scan_qps"].get<double>();
  const std::vector<std::pair<const char*, const char*>> ways = {
      {"scan_qps", "plain popcount scan"},
      {"ours_batch_qps", "ours, batch"},
      {"ours_single_qps", "ours, one query at a time"},
      {"row_popcount_qps", "row-wise popcount, 512-bit vectors"},
      {"mih_qps", "ours, multi-index"},
      {"faiss_flat_qps", "Faiss IndexBinaryFlat"},
      {"faiss_multihash_qps", "Faiss IndexBinaryMultiHash"}};
  for (const auto& [key, name] : ways) {
    rows.push_back({name, Figure(found[key]),
                    found[key].is_null() ? "" : Figure(found[key].get<double>() / scan)});
  }
  return fmt::format("{} {} codes of {} bits, k = {}, {} threads, {}\n", found["codes"].dump(),
                     found["clustered"].get<bool>() ? "clustered" : "uniform", found["bits"].dump(),
                     found["k"].dump(), found["threads"].dump(),
                     found["target"].get<std::string>()) +
         FormatTable(rows) +
         fmt::format("one query reads {} GB/s; the memory gives {} GB/s\n",
                     Figure(found["ours_single_gb_per_s"]), Figure(found["stream_gb_per_s"]));
}

std::string ReadableAsymmetric(const nlohmann::json& found) {
  std::vector<std::vector<std::string>> rows = {{"what", "queries/s", "times the plain loop"}};
  const double loop = found["float_loop_qps"].get<double>();
  const std::vector<std::pair<const char*, const char*>> ways = {
      {"float_loop_qps", "plain loop of floats, one thread"},
      {"ours_batch_qps", "ours, batch"},
      {"ours_single_qps", "ours, one query at a time"},
      {"hamming_batch_qps", "Hamming, batch"},
      {"hamming_single_qps", "Hamming, one query at a time"},
      {"tables_exact_batch_qps", "ours from tables, batch"},
      {"tables_exact_single_qps", "ours from tables, one query at a time"},
      {"two_stage_qps", "ours in two stages"},
      {"faiss_pq_fastscan_qps", "Faiss IndexPQFastScan"}};
  for (const auto& [key, name] : ways) {
    if (!found.contains(key)) continue;
    rows.push_back({name, Figure(found[key]),
                    found[key].is_null() ? "" : Figure(found[key].get<double>() / loop)});
  }
  std::string text =
      fmt::format("{} {} codes of {} bits, k = {}, {} threads, {}\n", found["codes"].dump(),
                  found["clustered"].get<bool>() ? "clustered" : "uniform", found["bits"].dump(),
                  found["k"].dump(), found["threads"].dump(), found["target"].get<std::string>()) +
      FormatTable(rows) +
      fmt::format("one query reads {} GB/s; the memory gives {} GB/s\n",
                  Figure(found["ours_single_gb_per_s"]), Figure(found["stream_gb_per_s"]));
  if (found.contains("two_stage_recall")) {
    text += fmt::format("two stages with {} candidates per result find {:.2f} % of the best\n",
                        found["candidates"].dump(), 100 * found["two_stage_recall"].get<double>());
  }
  return text;
}

}  // namespace

void AddHammingBench(CLI::App* parent, Session& session) {
  const auto options = std::make_shared<bench::HammingBenchOptions>();
  CLI::App* hamming = parent->add_subcommand("hamming", "Exact Hamming search");
  hamming->add_option("--bits", options->bits, "Length of the codes")->capture_default_str();
  hamming->add_option("--codes", options->codes, "Number of codes")->capture_default_str();
  hamming->add_option("-k", options->k, "Neighbours to find")->capture_default_str();
  hamming->add_flag("--clustered", options->clustered,
                    "Codes around 20,000 centres instead of uniform ones");
  hamming->footer(
      "Example:\n  bitpool-bench hamming --bits 64 --codes 10000000 -k 10 --threads 1 --json");
  hamming->callback([options, &session] {
    session.action = [options, &session] {
      return Show(session, bench::RunHammingBench(*options, session.MakeContext()),
                  &ReadableHamming);
    };
  });
}

void AddAsymmetricBench(CLI::App* parent, Session& session) {
  const auto options = std::make_shared<bench::AsymmetricBenchOptions>();
  CLI::App* command = parent->add_subcommand("asymmetric", "Search with real queries");
  command->add_option("--bits", options->bits, "Length of the codes")->capture_default_str();
  command->add_option("--codes", options->codes, "Number of codes")->capture_default_str();
  command->add_option("-k", options->k, "Neighbours to find")->capture_default_str();
  command->add_flag("--clustered", options->clustered,
                    "Codes around 20,000 centres instead of uniform ones");
  command->add_flag("--two-stage", options->two_stage, "Also in two stages, with the recall");
  command->add_option("--candidates", options->candidates, "Two stages: scored codes per result")
      ->capture_default_str();
  command->footer(
      "Example:\n  bitpool-bench asymmetric --bits 64 --codes 10000000 -k 10 --threads 1 --json");
  command->callback([options, &session] {
    session.action = [options, &session] {
      return Show(session, bench::RunAsymmetricBench(*options, session.MakeContext()),
                  &ReadableAsymmetric);
    };
  });
}

}  // namespace bitpool::app
