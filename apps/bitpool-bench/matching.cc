#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench.h"
#include "matching_bench.h"
#include "table.h"

namespace bitpool::app {
namespace {

std::string ReadableMatching(const nlohmann::json& found) {
  std::vector<std::vector<std::string>> rows = {{"edit", "found, %"}};
  const auto add = [&](const std::string& name, double share) {
    rows.push_back({name, fmt::format("{:.1f}", 100 * share)});
  };
  for (const auto& [name, share] : found["edits"].items()) add(name, share.get<double>());
  add("all", found["all"].get<double>());
  return fmt::format("{} pictures\n", found["pictures"].dump()) + FormatTable(rows) +
         fmt::format("\n{} of {} other pairs were taken for copies\n", found["wrong"].dump(),
                     found["strangers"].dump()) +
         fmt::format("{:.1f} ms per copy, {:.1f} ms per other pair\n",
                     found["copy_ms"].get<double>(), found["stranger_ms"].get<double>());
}

}  // namespace

void AddMatchingBench(CLI::App* parent, Session& session) {
  const auto options = std::make_shared<bench::MatchingBenchOptions>();
  CLI::App* command =
      parent->add_subcommand("matching", "How well pixels tell copies from other pictures");
  command->add_option("--pictures", options->pictures, "Folder of pictures")->required();
  command->add_option("--limit", options->limit, "Only this many, evenly from all")
      ->capture_default_str();
  command->add_option("--strangers", options->strangers, "Others that each is compared with")
      ->capture_default_str();
  command->footer("Example:\n  bitpool-bench matching --pictures photos --limit 200");
  command->callback([options, &session] {
    session.action = [options, &session] {
      return Show(session, bench::RunMatchingBench(*options, session.MakeContext()),
                  &ReadableMatching);
    };
  });
}

}  // namespace bitpool::app
