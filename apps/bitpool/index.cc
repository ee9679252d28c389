#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "bitpool/pipeline/library_pages.h"
#include "bitpool/pipeline/library_update.h"
#include "bitpool/pipeline/picture_coder.h"
#include "bitpool/pipeline/picture_files.h"
#include "session.h"

namespace bitpool::app {
namespace {

namespace fs = std::filesystem;

struct IndexFolderOptions {
  std::string folder, library, coder;
  std::optional<int> bits;
};

PictureCoder TrainOn(const IndexFolderOptions& options, const LibraryWriter& writer,
                     const std::vector<FoundPicture>& found, const Session& session,
                     const RunContext& context) {
  if (found.empty()) throw Error(ErrorCode::kNotFound, options.folder + ": no pictures here");
  CoderTraining training;
  if (options.bits) training.hash.bits = *options.bits;
  std::vector<fs::path> paths;
  paths.reserve(found.size());
  for (const FoundPicture& picture : found)
    paths.push_back(fs::path(options.folder) / picture.path);
  session.Say(fmt::format("{}: learning codes of {} bits", options.folder, training.hash.bits));
  const TrainedCoder trained =
      TrainCoder(writer.env(), training, paths, writer.folder().path() / "training", context);
  // A library keeps its coder, so half a training is none.
  if (trained.summary.interrupted) throw Error(ErrorCode::kCancelled, "interrupted");
  return trained.coder;
}

// The coder that was named, that of the library, or a new one; it is the library's from now on.
PictureCoder ChooseCoder(const IndexFolderOptions& options, const LibraryWriter& writer,
                         const std::vector<FoundPicture>& found, const Session& session,
                         const RunContext& context) {
  const fs::path own = writer.folder().coder();
  const bool has_own = writer.env().Exists(own);
  if (options.coder.empty() && has_own) {
    PictureCoder coder = OpenCoder(writer.env(), own);
    if (!options.bits || *options.bits == coder.bits()) return coder;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("--bits {}: the library's coder has {}; expected that, or a coder with "
                            "--coder, or another --library",
                            *options.bits, coder.bits()));
  }
  PictureCoder coder = options.coder.empty() ? TrainOn(options, writer, found, session, context)
                                             : OpenCoder(writer.env(), options.coder);
  SaveCoder(writer.env(), own, coder, IfExists::kReplace);
  return coder;
}

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

int IndexFolder(const IndexFolderOptions& options, const Session& session) {
  const RunContext context = session.MakeContext();
  Env& env = Env::Posix();
  const fs::path root = options.folder;
  const fs::path folder = options.library.empty() ? root / ".bitpool" : fs::path(options.library);
  std::vector<FailedPicture> unreadable;
  std::vector<FoundPicture> found = FindPictures(root, context, &unreadable);
  LeaveOutLibraryFiles(folder, root, found);
  LibraryWriter writer(env, folder);
  const PictureCoder coder = ChooseCoder(options, writer, found, session, context);
  const LibraryUpdate update = {
      .root = root,
      .found = std::move(found),
      .unreadable = std::move(unreadable),
      .read =
          [&](const FoundPicture& picture) {
            return ReadPictureBytes(root / picture.path, MaxPictureBytes());
          },
      .encoding = {.bits = coder.bits(),
                   .digest = coder.digest(),
                   .encode = [&](std::span<const std::byte> bytes) { return coder.Encode(bytes); },
                   .thumbnail = MakeThumbnail},
      .max_bytes = MaxPictureBytes()};
  const UpdateSummary summary = UpdateLibrary(writer, update, context);
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
  const auto options = std::make_shared<IndexFolderOptions>();
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
    session.action = [options, &session] { return IndexFolder(*options, session); };
  });
}

}  // namespace bitpool::app
