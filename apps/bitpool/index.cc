#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/base/shown_text.h"
#include "bitpool/catalog/postgres_address.h"
#include "bitpool/library/picture_library.h"
#include "experiment.h"
#include "library_rights.h"
#include "network_choice.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

struct IndexCommand {
  std::vector<std::filesystem::path> folders;
  std::vector<std::string> exclude;
  bool exclude_given = false;
  bool dry_run = false;
  UpdateOptions options;
  NetworkChoice network;
  std::string learn;              // what to learn a coder for; empty: learn none
  std::filesystem::path library;  // empty: .bitpool in the folder of pictures
  std::filesystem::path storage;  // of a new shared library

  std::filesystem::path location() const {
    return library.empty() ? folders.front() / ".bitpool" : library;
  }
  // For people; an address may have a password in it.
  std::string shown_location() const {
    const std::string text = location().string();
    return IsPostgresAddress(text) ? ShownAddress(text) : text;
  }
  UpdateOptions MakeOptions() const {
    UpdateOptions update = options;
    update.pictures = folders.front();
    update.more_folders.assign(folders.begin() + 1, folders.end());
    if (exclude_given) {
      update.exclude = exclude;
      std::erase(*update.exclude, "");  // an empty one cancels those in the library
    }
    if (network.named()) {
      update.network = network.Find(DataFolder(""));
    } else {
      network.RequireNothingAsked();
    }
    return update;
  }
};

nlohmann::json ToJson(const std::vector<FailedPicture>& pictures) {
  nlohmann::json failed = nlohmann::json::array();
  for (const FailedPicture& picture : pictures) {
    failed.push_back({{"path", picture.path.string()}, {"reason", picture.reason}});
  }
  return failed;
}

nlohmann::json ToJson(const UpdateSummary& summary, const LibrarySnapshot& library) {
  return {{"library", library.folder().name()}, {"pictures", library.index().size()},
          {"bits", library.index().bits()},     {"added", summary.added},
          {"changed", summary.changed},         {"removed", summary.removed},
          {"unchanged", summary.unchanged},     {"failed", ToJson(summary.failed)},
          {"stopped", summary.stopped},         {"seconds", summary.seconds}};
}

void Complain(const std::vector<FailedPicture>& pictures) {
  for (const FailedPicture& picture : pictures) {
    Session::Complain(ShownName(picture.path.string()) + ": " + ShownName(picture.reason));
  }
}

// What a person can do now.
std::string NextSteps(const UpdateSummary& summary, const LibrarySnapshot& library) {
  if (summary.stopped) {
    return "stopped early: what is done is kept; run the same command again to go on";
  }
  const std::string folder = ShownName(library.folder().name());
  if (library.index().size() == 0 && summary.failed.empty()) {
    return "no pictures were found: expected JPEG, PNG, WebP, TIFF, GIF, HEIC or AVIF files in the "
           "folder or the folders in it";
  }
  std::string text = fmt::format("{} pictures can be searched", library.index().size());
  if (!summary.failed.empty()) {
    text += fmt::format("; {} failed, see above, and are tried again when they change",
                        summary.failed.size());
  }
  return text + fmt::format(
                    ". Next:\n  bitpool dedupe --library {0} --html copies.html\n"
                    "  bitpool query PICTURE --library {0} --html found.html\n"
                    "  bitpool serve --library {0}      # a page in the browser",
                    folder);
}

int Plan(const IndexCommand& command, const Session& session) {
  const UpdatePlan plan = PictureLibrary::Plan(Env::Posix(), command.location(),
                                               command.MakeOptions(), session.MakeContext());
  Complain(plan.unreadable);
  if (session.json()) {
    Session::Print(nlohmann::json{{"library", command.shown_location()},
                                  {"dry_run", true},
                                  {"added", plan.added},
                                  {"changed", plan.changed},
                                  {"removed", plan.removed},
                                  {"unchanged", plan.unchanged},
                                  {"bytes", plan.bytes},
                                  {"failed", ToJson(plan.unreadable)}});
  } else {
    Session::Print(fmt::format(
        "{}: would add {}, look again at {}, remove {} and leave {} as they are; {:.1f} MB to "
        "read. Nothing was changed.\n",
        ShownName(command.shown_location()), plan.added, plan.changed, plan.removed, plan.unchanged,
        static_cast<double>(plan.bytes) / 1e6));
  }
  return plan.unreadable.empty() ? kExitFine : kExitSomeFailed;
}

// A library in a folder that is still to be made.
bool IsNew(const IndexCommand& command) {
  const std::filesystem::path location = command.location();
  return !IsPostgresAddress(location.string()) &&
         !Env::Posix().Exists(LibraryFolder(location).catalogue());
}

int IndexPictures(const IndexCommand& command, const Session& session) {
  UpdateOptions options = command.MakeOptions();
  // What is refused leaves no library behind.
  if (IsNew(command)) {
    PictureLibrary::Plan(Env::Posix(), command.location(), options, session.MakeContext());
  }
  options.on_wait = [](const std::string& what) { Session::Complain(what); };
  const auto library = PictureLibrary::OpenOrCreate(Env::Posix(), command.location(),
                                                    command.folders.front(), command.storage);
  KeepLeastRightsWith(command.location(), {});
  const UpdateSummary summary = library->Update(options, session.MakeContext());
  Complain(summary.failed);
  const LibrarySnapshot snapshot = library->Snapshot();
  if (session.json()) {
    Session::Print(ToJson(summary, snapshot));
  } else {
    session.Say(fmt::format("{}: {}", ShownName(library->folder().name()), summary.BriefReport()));
    session.Say(NextSteps(summary, snapshot));
  }
  if (summary.stopped) return kExitInterrupted;
  return summary.failed.empty() ? kExitFine : kExitSomeFailed;
}

}  // namespace

void AddIndex(CLI::App& app, Session& session) {
  const auto command = std::make_shared<IndexCommand>();
  CLI::App* sub = app.add_subcommand("index", "Make or update the library of folders of pictures");
  sub->add_option("DIR", command->folders, "Folders of pictures, with the folders in them")
      ->required();
  sub->add_option("--library", command->library,
                  "The library's folder (default: .bitpool in the first DIR), or "
                  "postgresql://HOST/DATABASE for one that many machines share");
  sub->add_option(
      "--storage", command->storage,
      "Of a new library in a database: the folder for its files, which all machines see "
      "under the same path");
  sub->add_option("--bits", command->options.bits,
                  "Length of the codes of a new library (default: 64)")
      ->check(CLI::Range(1, kMaxBits));
  CLI::Option* coder =
      sub->add_option("--coder", command->options.coder,
                      "Coder to use (.bpc); without one, a library keeps its own, and a new one "
                      "has the coder that ships with the program");
  sub->add_option("--learn", command->learn,
                  "Learn a coder from the pictures instead, to find copies or other pictures of "
                  "the same scenes, and make all codes again")
      ->check(CLI::IsMember({"copies", "scenes"}))
      ->expected(0, 1)
      ->default_str("copies")
      ->excludes(coder);
  command->network.AddTo(sub);
  command->network.AddLocalPcaTo(sub);
  command->network.AddSizeTo(sub);
  coder->excludes("--network");
  sub->get_option("--learn")->excludes("--network");
  sub->add_option("--exclude", command->exclude,
                  "Leave out files and folders with such a name (*.gif), or, with a slash in it, "
                  "such a path from DIR (2019/raw*); kept for later runs until it is given again, "
                  "or taken back by ''")
      ->allow_extra_args(false);
  sub->add_flag(
      "--allow-empty", command->options.allow_empty,
      "Remove the pictures of a folder in which none are found any more; without this, it "
      "is an error, because the file system may not be mounted");
  sub->add_flag("--dry-run", command->dry_run, "Say what would be done, and change nothing");
  sub->footer(
      "Only what changed is read again. Hidden folders are left alone. Interrupted, it keeps what "
      "is done; run it again to go on.\n\nExamples:\n  bitpool index ~/Pictures\n  bitpool index "
      "~/Pictures /media/camera --exclude '*.gif'\n  bitpool index ~/Pictures --network resnet50   "
      "(finds other pictures of a scene)");
  sub->callback([command, sub, &session] {
    command->exclude_given = sub->count("--exclude") > 0;
    if (!command->learn.empty()) command->options.learn = FindViewKind(command->learn);
    session.action = [command, &session] {
      return command->dry_run ? Plan(*command, session) : IndexPictures(*command, session);
    };
  });
}

}  // namespace bitpool::app
