#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/run_context.h"
#include "bitpool/io/env.h"

namespace bitpool {

// One of these files makes a folder that of a library, or of the files of a shared one, whose
// thumbnails are not pictures of the user.
inline constexpr const char* kCatalogueFile = "catalogue.sqlite";
inline constexpr const char* kLibraryIdFile = "library-id";

// A file that looks like a picture by its name.
struct FoundPicture {
  std::string path;      // relative to the folder searched, in the system's bytes
  uint64_t size = 0;     // in bytes
  int64_t mtime_ns = 0;  // last change, nanoseconds since 1970
};

// A file or folder that could not be used, and why.
struct FailedPicture {
  std::filesystem::path path;
  std::string reason;
};

// True for names that end in .jpg, .jpeg, .jpe, .png, .webp, .tif, .tiff, .gif, .heic, .heif or
// .avif, in letters of any case.
bool HasPictureName(const std::filesystem::path& path);

// What is passed over in the search for pictures, besides hidden folders and libraries.
struct PictureSearch {
  // Patterns with *, ? and [ ] of files and folders that are left out. One without a slash is
  // compared with names, one with a slash with paths from the folder that is searched, where * does
  // not stand for a slash.
  std::vector<std::string> exclude = {};

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

// All pictures in a folder and the folders in it, by their names, sorted by the bytes of their
// paths. Hidden folders, whose names begin with a dot, are left alone, and so are folders of
// libraries, unless it is the folder that is searched. A link to a file is a picture like the file;
// a link to a folder is not followed, so that there are no circles and nothing is found twice that
// way. What is neither a file nor a link to one (a pipe, a device) is passed over. Folders that
// cannot be listed and links that lead nowhere go to `unreadable`, if given, and do not end the
// search. Throws kNotFound or kInvalidArgument when the folder itself is not one, kIo when it
// cannot be listed.
std::vector<FoundPicture> FindPictures(Env& env, const std::filesystem::path& folder,
                                       const RunContext& context,
                                       std::vector<FailedPicture>* unreadable = nullptr,
                                       const PictureSearch& search = {});

}  // namespace bitpool
