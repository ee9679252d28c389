#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench.h"
#include "library_bench.h"
#include "table.h"

namespace bitpool::app {
namespace {

std::string ReadableLibrary(const nlohmann::json& found) {
  std::vector<std::vector<std::string>> rows = {{"", "seconds", "most memory, MB"}};
  for (const char* name : {"index", "update", "query", "candidates", "dedupe"}) {
    rows.push_back({name, fmt::format("{:.1f}", found[name]["seconds"].get<double>()),
                    fmt::format("{:.0f}", found[name]["peak_mb"].get<double>())});
  }
  return fmt::format("{} pictures, {} candidate pairs\n", found["pictures"].dump(),
                     found["candidates"]["pairs"].dump()) +
         FormatTable(rows);
}

}  // namespace

void AddLibraryBench(CLI::App* parent, Session& session) {
  const auto options = std::make_shared<bench::LibraryBenchOptions>();
  CLI::App* command = parent->add_subcommand(
      "library", "What a library of many pictures takes of time and memory, without the pictures");
  command->add_option("--pictures", options->pictures, "So many")->capture_default_str();
  command->footer("Example:\n  bitpool-bench library --pictures 100000");
  command->callback([options, &session] {
    session.action = [options, &session] {
      return Show(session, bench::RunLibraryBench(*options, session.MakeContext()),
                  &ReadableLibrary);
    };
  });
}

}  // namespace bitpool::app
