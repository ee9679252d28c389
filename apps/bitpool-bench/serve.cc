#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench.h"
#include "serve_bench.h"
#include "table.h"

namespace bitpool::app {
namespace {

std::vector<std::string> Row(const std::string& name, const nlohmann::json& load) {
  const auto number = [&](const char* field) { return load[field].get<double>(); };
  return {name,
          fmt::format("{:.0f}", number("per_second")),
          fmt::format("{:.2f}", number("median_ms")),
          fmt::format("{:.2f}", number("p99_ms")),
          fmt::format("{:.1f}", number("cpu_us")),
          load["failures"].dump()};
}

std::string ReadableServe(const nlohmann::json& found) {
  std::vector<std::vector<std::string>> rows = {
      {"what", "requests/s", "median ms", "p99 ms", "CPU µs", "failures"},
      Row("hello by bare Beast", found["hello"]),
      Row("/livez", found["empty"]),
      Row("search by id", found["search"])};
  const nlohmann::json& uploads = found["uploads"];
  if (!uploads.is_null()) {
    rows.push_back(Row("uploads, one at a time", uploads["alone"]));
    rows.push_back(Row("uploads, 100 at a time", uploads["together"]));
  }
  std::string text =
      fmt::format("{} codes, k = {}, {} connections, {} threads; clients on the same cores\n",
                  found["codes"].dump(), found["k"].dump(), found["connections"].dump(),
                  found["threads"].dump()) +
      FormatTable(rows) +
      fmt::format("search has {:.0f} % of the rate of hello\n",
                  100 * found["of_hello"].get<double>());
  if (!uploads.is_null()) {
    text += fmt::format(
        "an upload of {} bytes takes {:.1f} ms more than the search alone; {:.0f} MB more under {} "
        "idle connections and {} uploads at once\n",
        uploads["picture_bytes"].dump(), uploads["beyond_ms"].get<double>(),
        uploads["more_memory_mb"].get<double>(), uploads["idle_connections"].dump(),
        uploads["uploads_at_once"].dump());
  }
  return text;
}

}  // namespace

void AddServeBench(CLI::App* parent, Session& session) {
  const auto options = std::make_shared<bench::ServeBenchOptions>();
  CLI::App* command = parent->add_subcommand("serve", "The server, beside a bare one");
  command->add_option("--codes", options->codes, "Codes of the library")->capture_default_str();
  command->add_option("-k", options->k, "Neighbours to find")->capture_default_str();
  command->add_option("--connections", options->connections, "Connections that ask at one time")
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "For every measurement")
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Of all in turn; the best counts")
      ->capture_default_str();
  command->add_option("--library", options->library, "Library with a coder, to measure uploads");
  command->add_option("--picture", options->picture, "Picture to upload to it");
  command->footer("Example:\n  bitpool-bench serve --threads 2 --json");
  command->callback([options, &session] {
    session.action = [options, &session] {
      return Show(session, bench::RunServeBench(*options, session.MakeContext()), &ReadableServe);
    };
  });
}

}  // namespace bitpool::app
