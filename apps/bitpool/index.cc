#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/library/library_pages.h"
#include "bitpool/library/picture_library.h"
#include "experiment.h"
#include "network_choice.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

struct IndexCommand {
  UpdateOptions options;
  NetworkChoice network;
  std::filesystem::path library;  // empty: .bitpool in the folder of pictures

  std::filesystem::path library_folder() const {
    return library.empty() ? options.pictures / ".bitpool" : library;
  }
};

nlohmann::json ToJson(const UpdateSummary& summary, const LibrarySnapshot& library) {
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

int Index(const IndexCommand& command, const Session& session) {
  UpdateOptions options = command.options;
  if (command.network.named()) {
    options.network = command.network.Find(DataFolder(""));
    MappedNetwork(Env::Posix(), options.network->files);  // before a library is made
  }
  const auto library = PictureLibrary::OpenOrCreate(Env::Posix(), command.library_folder(),
                                                    command.options.pictures);
  const UpdateSummary summary = library->Update(options, session.MakeContext());
  for (const FailedPicture& picture : summary.failed) {
    Session::Complain(ShownName(picture.path.string()) + ": " + ShownName(picture.reason));
  }
  if (session.json()) {
    Session::Print(ToJson(summary, library->Snapshot()));
  } else {
    session.Say(fmt::format("{}: {}", library->folder().name(), summary.BriefReport()));
  }
  if (summary.stopped) return kExitInterrupted;
  return summary.failed.empty() ? kExitFine : kExitSomeFailed;
}

}  // namespace

void AddIndex(CLI::App& app, Session& session) {
  const auto command = std::make_shared<IndexCommand>();
  CLI::App* sub = app.add_subcommand("index", "Make or update the library of a folder of pictures");
  sub->add_option("DIR", command->options.pictures, "Folder of pictures, with the folders in it")
      ->required();
  sub->add_option("--library", command->library, "The library's folder (default: DIR/.bitpool)");
  sub->add_option("--bits", command->options.bits,
                  "Length of the codes of a new library (default: 64)")
      ->check(CLI::Range(1, kMaxBits));
  CLI::Option* coder =
      sub->add_option("--coder", command->options.coder,
                      "Coder to use (.bpc); without one, a new library learns its own");
  command->network.AddTo(sub);
  command->network.AddLocalPcaTo(sub);
  command->network.AddSizeTo(sub);
  coder->excludes("--network");
  sub->footer(
      "Only what changed is read again. Interrupted, it keeps what is done; run it again to go "
      "on.\n\nExample:\n  bitpool index ~/Pictures\n  bitpool index ~/Pictures --network resnet50  "
      " (finds other "
      "pictures of a scene)");
  sub->callback([command, &session] {
    session.action = [command, &session] { return Index(*command, session); };
  });
}

}  // namespace bitpool::app
