#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "bitpool/image/picture.h"
#include "bitpool/library/library_snapshot.h"

// What this room shares: pixels of the pictures of a library. Not for users. May be called from
// many threads.
namespace bitpool {

// Where to find the pixels of a picture.
struct PictureFile {
  uint64_t id = 0;
  std::filesystem::path path;
};

// The picture in the size of a thumbnail: the thumbnail, or, where there is none, the file. Nothing
// when neither can be read.
std::optional<Picture> ReadSmall(const LibrarySnapshot& library, const PictureFile& file);

// Whether two files show the same pixels, all of them; never said of a file of several pages or
// frames, of which only the first is decoded. Nothing when one cannot be read.
std::optional<bool> HaveSamePixels(const LibrarySnapshot& library, const PictureFile& a,
                                   const PictureFile& b);

}  // namespace bitpool
