#include "bitpool/dataset/inspect.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "subcommands.h"
#include "table.h"

namespace bitpool::app {
namespace {

std::string Dims(const nlohmann::json& dims) {
  std::string text;
  for (const auto& dim : dims) text += (text.empty() ? "" : " × ") + dim.dump();
  return text;
}

std::string Readable(const nlohmann::json& found) {
  std::string text =
      fmt::format("{}  {}, {}\n", found["file"].get<std::string>(),
                  found["format"].get<std::string>(), FormatBytes(found["bytes"].get<double>()));
  if (!found.contains("kind")) {
    return text + fmt::format(
                      "{} samples of {}{}\n", found["count"].dump(),
                      found["dtype"].get<std::string>(),
                      found["sample_shape"].empty() ? "" : ", each " + Dims(found["sample_shape"]));
  }
  text += fmt::format("kind: {}\n", found["kind"].get<std::string>());
  if (found.contains("images")) {
    const nlohmann::json& per_image = found["descriptors_per_image"];
    text += fmt::format(
        "{} images{}, {} descriptors of dimension {} ({} to {} per image, mean {:.1f})\n",
        found["images"].dump(),
        found["pictures"] == found["images"]
            ? ""
            : fmt::format(" of {} pictures, with their views", found["pictures"].dump()),
        found["descriptors"].dump(), found["dimension"].dump(), per_image["min"].dump(),
        per_image["max"].dump(), per_image["mean"].get<double>());
  }
  for (const auto& [key, value] : found["metadata"].items())
    text += fmt::format("{}: {}\n", key, value.dump());
  std::vector<std::vector<std::string>> rows = {{"section", "type", "dimensions", "size"}};
  for (const auto& section : found["sections"]) {
    rows.push_back({section["name"], section["dtype"], Dims(section["dims"]),
                    FormatBytes(section["bytes"].get<double>())});
  }
  return text + "\n" + FormatTable(rows);
}

}  // namespace

void AddInspect(CLI::App& app, Session& session) {
  const auto file = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a file holds");
  command->add_option("FILE", *file, "Any file Bitpool reads")->required();
  command->footer("Example:\n  bitpool inspect holidays.bpf --json");
  command->callback([file, &session] {
    session.action = [file, &session] {
      const nlohmann::json found = InspectFile(Env::Posix(), *file);
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
