#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/library/library_pages.h"
#include "bitpool/library/library_query.h"
#include "bitpool/library/library_update.h"
#include "bitpool/pictures/picture_coder.h"
#include "bitpool/pictures/picture_files.h"
#include "subcommands.h"
#include "table.h"

namespace bitpool::app {
namespace {

struct QueryOptions {
  std::string picture, library = ".bitpool", html;
  int64_t k = 20;
  bool hamming = false;
  IfExists if_exists = IfExists::kFail;
};

PictureCoder OpenMatchingCoder(const Library& library) {
  PictureCoder coder = OpenCoder(Env::Posix(), library.folder().coder());
  if (coder.digest() == library.facts().coder) return coder;
  throw Error(ErrorCode::kCorrupt, library.folder().path().string(),
              "the codes were made with another coder; `bitpool index` makes them again");
}

PictureCode EncodeNamed(const PictureCoder& coder, const std::string& name,
                        std::span<const std::byte> bytes) {
  return InContext(name, [&] { return coder.Encode(bytes); });
}

nlohmann::json ToJson(const std::vector<QueryMatch>& matches) {
  nlohmann::json rows = nlohmann::json::array();
  for (const QueryMatch& match : matches) {
    rows.push_back({{"path", match.picture.path},
                    {"id", match.picture.id},
                    {"distance", match.distance},
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
    rows.push_back({std::to_string(i + 1), std::to_string(matches[i].distance),
                    fmt::format("{:.3f}", matches[i].score), ShownName(matches[i].picture.path)});
  }
  return FormatTable(rows);
}

int Query(const QueryOptions& options, const Session& session) {
  Env& env = Env::Posix();
  const RunContext context = session.MakeContext();
  if (!options.html.empty()) RequireWritable(env, options.html, options.if_exists);
  const Library library(env, options.library, context);
  const PictureCoder coder = OpenMatchingCoder(library);
  const std::vector<std::byte> bytes = ReadPictureBytes(options.picture, MaxPictureBytes());
  const PictureCode code = EncodeNamed(coder, options.picture, bytes);
  const std::vector<QueryMatch> matches =
      QueryLibrary(library, code, options.k,
                   options.hamming ? QueryOrder::kHamming : QueryOrder::kScore, context);
  if (!options.html.empty()) {
    const std::string page =
        QueryPage(library, {.name = options.picture, .thumbnail = MakeThumbnail(bytes)}, matches);
    WriteFile(env, options.html, std::as_bytes(std::span(page)), options.if_exists);
    session.Say(options.html + ": written");
  }
  if (session.json()) {
    Session::Print(ToJson(matches));
  } else {
    Session::Print(ToTable(matches));
  }
  return kExitFine;
}

}  // namespace

void AddQuery(CLI::App& app, Session& session) {
  const auto options = std::make_shared<QueryOptions>();
  CLI::App* command = app.add_subcommand("query", "Find the pictures of a library like a picture");
  command->add_option("PICTURE", options->picture, "File of a picture")->required();
  command->add_option("--library", options->library, "The library's folder")->capture_default_str();
  command->add_option("-k", options->k, "Find the K nearest")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--hamming", options->hamming,
                    "Order by the bits that differ, then by the score");
  command->add_option("--html", options->html, "Write a page with the pictures");
  AddForce(command, options->if_exists);
  command->footer(
      "Results are ordered by the score, larger is nearer: every bit counts by how sure the query "
      "is of it.\n\nExample:\n  bitpool query cat.jpg --library ~/Pictures/.bitpool --html "
      "cats.html");
  command->callback([options, &session] {
    session.action = [options, &session] { return Query(*options, session); };
  });
}

}  // namespace bitpool::app
