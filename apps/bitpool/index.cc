#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/library/library_index.h"
#include "bitpool/library/library_pages.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

nlohmann::json ToJson(const UpdateSummary& summary, const Library& library) {
  nlohmann::json failed = nlohmann::json::array();
  for (const FailedPicture& picture : summary.failed) {
    failed.push_back({{"path", picture.path.string()}, {"reason", picture.reason}});
  }
  return {{"library", library.folder().path().string()},
          {"pictures", library.index().size()},
          {"bits", library.index().bits()},
          {"added", summary.added},
          {"changed", summary.changed},
          {"removed", summary.removed},
          {"unchanged", summary.unchanged},
          {"failed", failed},
          {"stopped", summary.stopped},
          {"seconds", summary.seconds}};
}

int Index(const FolderIndexing& indexing, const Session& session) {
  Env& env = Env::Posix();
  const RunContext context = session.MakeContext();
  const std::filesystem::path folder = indexing.library_folder();
  const UpdateSummary summary = IndexFolder(env, indexing, context);
  for (const FailedPicture& picture : summary.failed) {
    Session::Complain(ShownName(picture.path.string()) + ": " + ShownName(picture.reason));
  }
  if (session.json()) {
    Session::Print(ToJson(summary, Library(env, folder, context.WithoutStop())));
  } else {
    session.Say(fmt::format("{}: {}", folder.string(), summary.BriefReport()));
  }
  if (summary.stopped) return kExitInterrupted;
  return summary.failed.empty() ? kExitFine : kExitSomeFailed;
}

}  // namespace

void AddIndex(CLI::App& app, Session& session) {
  const auto options = std::make_shared<FolderIndexing>();
  CLI::App* command =
      app.add_subcommand("index", "Make or update the library of a folder of pictures");
  command->add_option("DIR", options->folder, "Folder of pictures, with the folders in it")
      ->required();
  command->add_option("--library", options->library,
                      "The library's folder (default: DIR/.bitpool)");
  command->add_option("--bits", options->bits, "Length of the codes of a new library (default: 64)")
      ->check(CLI::Range(1, kMaxBits));
  command->add_option("--coder", options->coder,
                      "Coder to use (.bpc); without one, a new library learns its own");
  command->footer(
      "Only what changed is read again. Interrupted, it keeps what is done; run it again to go "
      "on.\n\nExample:\n  bitpool index ~/Pictures");
  command->callback([options, &session] {
    session.action = [options, &session] { return Index(*options, session); };
  });
}

}  // namespace bitpool::app
