#include "bitpool/library/library_index.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/io/checksum.h"
#include "bitpool/pictures/picture_coder.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// A coder, and codes that learning it has left.
struct ChosenCoder {
  PictureCoder coder;
  std::map<uint64_t, PictureCode> codes = {};  // by the checksum of the picture's bytes

  PictureCode Encode(std::span<const std::byte> bytes) const {
    if (codes.empty()) return coder.Encode(bytes);
    const auto known = codes.find(Checksum(bytes));
    return known == codes.end() ? coder.Encode(bytes) : known->second;
  }
};

ChosenCoder TrainOn(const FolderIndexing& indexing, const LibraryWriter& writer,
                    const std::vector<FoundPicture>& found, const RunContext& context) {
  if (found.empty()) {
    throw Error(ErrorCode::kNotFound, indexing.folder.string() + ": no pictures here");
  }
  CoderTraining training;
  if (indexing.bits) training.hash.bits = *indexing.bits;
  std::vector<fs::path> paths;
  paths.reserve(found.size());
  for (const FoundPicture& picture : found) paths.push_back(indexing.folder / picture.path);
  TrainedCoder trained =
      TrainCoder(writer.env(), training, paths, writer.folder().training(), context);
  // A library keeps its coder, so half a training is none.
  if (trained.summary.interrupted) throw Error(ErrorCode::kCancelled, "interrupted");
  return {.coder = std::move(trained.coder), .codes = std::move(trained.codes)};
}

// The coder that was named, that of the library, or a new one; it is the library's from now on.
ChosenCoder ChooseCoder(const FolderIndexing& indexing, const LibraryWriter& writer,
                        const std::vector<FoundPicture>& found, const RunContext& context) {
  const fs::path own = writer.folder().coder();
  if (indexing.coder.empty() && writer.env().Exists(own)) {
    PictureCoder coder = OpenCoder(writer.env(), own);
    if (!indexing.bits || *indexing.bits == coder.bits()) return {.coder = std::move(coder)};
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("codes of {} bits: the library's coder has {}; expected that, or "
                            "another coder, or another library",
                            *indexing.bits, coder.bits()));
  }
  ChosenCoder chosen = indexing.coder.empty()
                           ? TrainOn(indexing, writer, found, context)
                           : ChosenCoder{.coder = OpenCoder(writer.env(), indexing.coder)};
  SaveCoder(writer.env(), own, chosen.coder, IfExists::kReplace);
  return chosen;
}

}  // namespace

UpdateSummary IndexFolder(Env& env, const FolderIndexing& indexing, const RunContext& context) {
  const fs::path& root = indexing.folder;
  const fs::path library = indexing.library_folder();
  std::vector<FailedPicture> unreadable;
  std::vector<FoundPicture> found = FindPictures(root, context, &unreadable);
  LeaveOutLibraryFiles(library, root, found);
  LibraryWriter writer(env, library);
  std::error_code stays;                              // does no harm
  fs::remove_all(writer.folder().training(), stays);  // of a training that was killed
  const ChosenCoder chosen = ChooseCoder(indexing, writer, found, context);
  const LibraryUpdate update = {
      .root = root,
      .found = std::move(found),
      .unreadable = std::move(unreadable),
      .read =
          [&](const FoundPicture& picture) {
            return ReadPictureBytes(root / picture.path, MaxPictureBytes());
          },
      .encoding = {.bits = chosen.coder.bits(),
                   .digest = chosen.coder.digest(),
                   .encode = [&](std::span<const std::byte> bytes) { return chosen.Encode(bytes); },
                   .thumbnail = MakeThumbnail},
      .max_bytes = MaxPictureBytes()};
  return UpdateLibrary(writer, update, context);
}

}  // namespace bitpool
