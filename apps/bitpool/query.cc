#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/base/shown_text.h"
#include "bitpool/library/library_pages.h"
#include "bitpool/library/picture_library.h"
#include "library_rights.h"
#include "number_checks.h"
#include "subcommands.h"
#include "table.h"

namespace bitpool::app {
namespace {

struct QueryCommand {
  std::string picture, library = ".bitpool", html;
  QueryOptions options;
  IfExists if_exists = IfExists::kFail;
};

nlohmann::json ToJson(const std::vector<QueryMatch>& matches) {
  nlohmann::json rows = nlohmann::json::array();
  for (const QueryMatch& match : matches) {
    rows.push_back({{"path", match.picture.path},
                    {"id", match.picture.id},
                    {"distance", match.distance},
                    {"mirrored", match.mirrored},
                    {"score", match.score},
                    {"width", match.picture.width},
                    {"height", match.picture.height},
                    {"size", match.picture.size}});
  }
  return rows;
}

std::string ToTable(const std::vector<QueryMatch>& matches) {
  std::vector<std::vector<std::string>> rows = {{"rank", "distance", "score", "picture"}};
  for (size_t i = 0; i < matches.size(); ++i) {
    rows.push_back(
        {std::to_string(i + 1), std::to_string(matches[i].distance),
         fmt::format("{:.3f}", matches[i].score),
         ShownName(matches[i].picture.path) + (matches[i].mirrored ? "  (mirrored)" : "")});
  }
  return FormatTable(rows);
}

int Query(const QueryCommand& command, const Session& session) {
  Env& env = Env::Posix();
  if (!command.html.empty()) RequireWritable(env, command.html, command.if_exists);
  const auto library = PictureLibrary::Open(env, command.library);
  KeepLeastRightsWith(command.library, {command.html});
  const QueryAnswer answer =
      library->QueryFile(command.picture, command.options, session.MakeContext());
  if (!command.html.empty()) {
    const std::string page =
        QueryPage(answer.library, AskedFile(env, command.picture), answer.matches);
    WriteFile(env, command.html, std::as_bytes(std::span(page)), command.if_exists);
    session.Say(ShownName(command.html) + ": written");
  }
  if (session.json()) {
    Session::Print(ToJson(answer.matches));
  } else {
    Session::Print(ToTable(answer.matches));
  }
  return kExitFine;
}

}  // namespace

void AddQuery(CLI::App& app, Session& session) {
  const auto command = std::make_shared<QueryCommand>();
  CLI::App* sub = app.add_subcommand("query", "Find the pictures of a library like a picture");
  sub->add_option("PICTURE", command->picture, "File of a picture")->required();
  sub->add_option("--library", command->library,
                  "The library's folder, or postgresql://... of a shared library")
      ->capture_default_str();
  sub->add_option("-k", command->options.k, "Find the K nearest")
      ->check(WholeFrom(1))
      ->capture_default_str();
  sub->add_flag_callback(
      "--hamming", [command] { command->options.order = QueryOrder::kHamming; },
      "Order by the bits that differ, then by the score");
  sub->add_flag("--mirrored", command->options.mirrored, "Find mirrored copies too");
  sub->add_option("--html", command->html, "Write a page with the pictures")->check(NotEmpty());
  AddForce(sub, command->if_exists);
  sub->footer(
      "Results are ordered by the score, larger is nearer: every bit counts by how sure the query "
      "is of it.\n\nExample:\n  bitpool query cat.jpg --library ~/Pictures/.bitpool --html "
      "cats.html");
  sub->callback([command, &session] {
    session.action = [command, &session] { return Query(*command, session); };
  });
}

}  // namespace bitpool::app
