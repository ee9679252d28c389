#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "bitpool/library/library_pages.h"
#include "bitpool/library/picture_library.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

struct DedupeOptions {
  std::string library = ".bitpool", html, script;
  std::optional<int> radius;
  IfExists if_exists = IfExists::kFail;
};

nlohmann::json ToJson(const std::vector<DuplicateGroup>& groups) {
  nlohmann::json json = nlohmann::json::array();
  for (const DuplicateGroup& group : groups) {
    nlohmann::json members = nlohmann::json::array();
    for (const DuplicatePicture& member : group) {
      nlohmann::json copy_of;
      if (member.copy_of) copy_of = group[*member.copy_of].picture.path;
      members.push_back({{"path", member.picture.path},
                         {"keep", &member == &group.front()},
                         {"exact_copy_of", copy_of},
                         {"distance", member.distance},
                         {"width", member.picture.width},
                         {"height", member.picture.height},
                         {"size", member.picture.size}});
    }
    json.push_back(std::move(members));
  }
  return json;
}

std::string ToText(const std::vector<DuplicateGroup>& groups) {
  std::string text;
  for (const DuplicateGroup& group : groups) {
    for (const DuplicatePicture& member : group) {
      const bool keep = &member == &group.front();
      text += fmt::format("{}  {}{}\n", keep ? "keep" : "    ", ShownName(member.picture.path),
                          member.copy_of ? "  (exact copy)" : "");
    }
    text += "\n";
  }
  return text;
}

void WriteText(const std::string& path, const std::string& text, IfExists if_exists,
               const Session& session) {
  WriteFile(Env::Posix(), path, std::as_bytes(std::span(text)), if_exists);
  session.Say(path + ": written");
}

int Dedupe(const DedupeOptions& options, const Session& session) {
  Env& env = Env::Posix();
  for (const std::string& output : {options.html, options.script}) {
    if (!output.empty()) RequireWritable(env, output, options.if_exists);
  }
  const DuplicatesAnswer found =
      PictureLibrary::Open(env, options.library)->Duplicates(options.radius, session.MakeContext());
  if (!options.html.empty()) {
    WriteText(options.html, DuplicatesPage(found.library, found.groups, found.radius),
              options.if_exists, session);
  }
  if (!options.script.empty()) {
    WriteText(options.script, MoveScript(found.library.root(), found.groups), options.if_exists,
              session);
  }
  if (session.json()) {
    Session::Print(ToJson(found.groups));
  } else {
    Session::Print(ToText(found.groups));
    session.Say(fmt::format("{} groups within {} bits", found.groups.size(), found.radius));
  }
  return kExitFine;
}

}  // namespace

void AddDedupe(CLI::App& app, Session& session) {
  const auto options = std::make_shared<DedupeOptions>();
  CLI::App* command =
      app.add_subcommand("dedupe", "Find near-duplicates in a library; changes nothing");
  command->add_option("--library", options->library, "The library's folder")->capture_default_str();
  command
      ->add_option("--radius", options->radius,
                   "Bits by which codes of copies may differ (default: an eighth of them, less "
                   "below 64 bits)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--html", options->html, "Write a page with the pictures");
  command->add_option("--script", options->script,
                      "Write a shell script that moves all but the best copies to a folder");
  AddForce(command, options->if_exists);
  command->footer(
      "The best copy has the most pixels, then the largest file, then the shortest path.\n\n"
      "Example:\n  bitpool dedupe --library ~/Pictures/.bitpool --html copies.html --script "
      "move.sh\n  sh move.sh ~/Copies");
  command->callback([options, &session] {
    session.action = [options, &session] { return Dedupe(*options, session); };
  });
}

}  // namespace bitpool::app
