#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/catalog/catalogue.h"
#include "bitpool/image/decode.h"
#include "bitpool/io/env.h"
#include "bitpool/io/file_lock.h"
#include "bitpool/library/library.h"
#include "bitpool/pictures/picture_coder.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool {

// How pictures become codes. The functions are called from many threads.
struct PictureEncoding {
  int bits = 0;
  std::string digest;  // names the codes: only those of equal digests can be compared
  // Throws Error for a picture that cannot be encoded.
  std::function<PictureCode(std::span<const std::byte>)> encode;
  // A small JPEG of the picture, or none.
  std::function<std::vector<std::byte>(std::span<const std::byte>)> thumbnail;
};

// The longest side of thumbnails.
inline constexpr Index kThumbnailSide = 256;

// A thumbnail as libraries have them. Throws as DecodePicture.
std::vector<std::byte> MakeThumbnail(std::span<const std::byte> picture);

// The right to change a library. There is one at a time.
class LibraryWriter {
 public:
  // Makes the folder and an empty library where there is none. Throws kResources when another
  // process writes, kUnsupported when a newer Bitpool made the library.
  LibraryWriter(Env& env, const std::filesystem::path& folder);

  Env& env() const { return env_; }
  const LibraryFolder& folder() const { return folder_; }
  Catalogue& catalogue() const { return *catalogue_; }

 private:
  Env& env_;
  LibraryFolder folder_;
  FileLock lock_;
  std::unique_ptr<Catalogue> catalogue_;
};

// Leaves out what belongs to a library and is no picture of the user's: the files of this one, and
// what is in folders that are named .bitpool.
void LeaveOutLibraryFiles(const std::filesystem::path& library, const std::filesystem::path& root,
                          std::vector<FoundPicture>& found);

struct LibraryUpdate {
  std::filesystem::path root;  // the folder of pictures
  // What is there, and what could not be looked at, as FindPictures has them for `root`. Files of
  // libraries are left out.
  std::vector<FoundPicture> found;
  std::vector<FailedPicture> unreadable = {};
  std::function<std::vector<std::byte>(const FoundPicture&)> read;
  PictureEncoding encoding;
  uint64_t max_bytes = DecodeOptions().max_bytes;  // larger files have failed and are not read
  size_t batch = 64;                               // pictures between two commits

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

struct UpdateSummary {
  uint64_t added = 0;
  uint64_t changed = 0;    // has new content, or a code of another coder
  uint64_t removed = 0;    // is no longer there
  uint64_t unchanged = 0;  // also what was only touched
  // Those of this time, by path: `unreadable`, and pictures without a code now.
  std::vector<FailedPicture> failed;
  bool stopped = false;  // before all was done; what was done is kept
  double seconds = 0;

  std::string BriefReport() const;
};

// Brings a library up to date with the pictures that were found.
//
// Only pictures whose size or time changed are read, and only those whose content changed are
// encoded, unless the coder is another one: then all are, and the codes of the old one are dropped
// first, because they cannot be compared. A picture that cannot be encoded is noted with the reason
// and tried again when it changes; one that cannot be read now is tried again the next time, and so
// is whatever lies in a folder that could not be listed. Thumbnails that were lost are made again.
//
// The library is valid at any moment, also when the process is killed; the next update goes on from
// there. A stop ends it early and without an exception. Throws kInvalidArgument when the library is
// of another folder, which is still there.
UpdateSummary UpdateLibrary(LibraryWriter& writer, const LibraryUpdate& update,
                            const RunContext& context);

}  // namespace bitpool
