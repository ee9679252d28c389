#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hamming_bench.h"
#include "session.h"
#include "table.h"

namespace bitpool::app {
namespace {

std::string Figure(const nlohmann::json& value) {
  if (value.is_null()) return "not measured";
  return fmt::format("{:.{}f}", value.get<double>(), value.get<double>() < 100 ? 1 : 0);
}

std::string Readable(const nlohmann::json& found) {
  std::vector<std::vector<std::string>> rows = {{"what", "queries/s", "times the plain scan"}};
  const double scan = found["scan_qps"].get<double>();
  const std::vector<std::pair<const char*, const char*>> ways = {
      {"scan_qps", "plain popcount scan"},
      {"ours_batch_qps", "ours, batch"},
      {"ours_single_qps", "ours, one query at a time"},
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

}  // namespace

void AddBench(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("bench", "Measure speed, beside peers in the same run");
  command->require_subcommand(1);
  command->fallthrough();
  command->footer("Example:\n  bitpool bench hamming --bits 64 --codes 1000000 --threads 1");

  const auto options = std::make_shared<bench::HammingBenchOptions>();
  CLI::App* hamming = command->add_subcommand("hamming", "Exact Hamming search");
  hamming->add_option("--bits", options->bits, "Length of the codes")->capture_default_str();
  hamming->add_option("--codes", options->codes, "Number of codes")->capture_default_str();
  hamming->add_option("-k", options->k, "Neighbours to find")->capture_default_str();
  hamming->add_flag("--clustered", options->clustered,
                    "Codes around 20,000 centres instead of uniform ones");
  hamming->footer(
      "Example:\n  bitpool bench hamming --bits 64 --codes 10000000 -k 10 --threads 1 --json");
  hamming->callback([options, &session] {
    session.action = [options, &session] {
      const nlohmann::json found = bench::RunHammingBench(*options, session.MakeContext());
      if (session.json()) {
        Session::Print(found);
      } else {
        Session::Print(Readable(found));
      }
      return kExitFine;
    };
  });
}

}  // namespace bitpool::app
