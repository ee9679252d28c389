#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/image/picture.h"
#include "bitpool/io/env.h"
#include "bitpool/library/library_folder.h"

namespace bitpool {

// The longest side of thumbnails.
inline constexpr Index kThumbnailSide = 256;

// A thumbnail as libraries have them. Throws as DecodePicture.
std::vector<std::byte> MakeThumbnail(std::span<const std::byte> picture);
// The same for a picture that is already decoded, in this size or a smaller one.
std::vector<std::byte> ThumbnailOf(const Picture& decoded);
// The perceptual hash by which copies of a picture are found. It is made from the thumbnail, so
// that a library gets the same one whenever it is made. Nothing when there is no such JPEG.
std::optional<uint64_t> HashOfThumbnail(std::span<const std::byte> thumbnail);

// The files with the thumbnails of a library, by the ids of the pictures.
class LibraryThumbnails {
 public:
  LibraryThumbnails(Env& env, const LibraryFolder& folder)
      : env_(env), folder_(folder.thumbnails()) {}

  // There are a thousand in a folder.
  std::filesystem::path PathOf(uint64_t id) const;

  // A JPEG; empty when there is none, or it cannot be read now: a page without one picture is
  // better than none.
  std::vector<std::byte> Read(uint64_t id) const;
  // The ids that have a thumbnail, ascending. A file without bytes, as a loss of power may leave
  // it, is none.
  std::vector<uint64_t> List() const;
  // Replaces an existing one. Does nothing for no bytes.
  void Write(uint64_t id, std::span<const std::byte> thumbnail) const;
  // Does nothing when there is none, or another process is faster.
  void Remove(uint64_t id) const;
  // Removes all but those of these ids, which are in ascending order.
  void RemoveAllBut(std::span<const uint64_t> ids) const;

 private:
  // The ids for which there is a file.
  std::vector<uint64_t> ListFiles() const;

  Env& env_;
  std::filesystem::path folder_;
};

}  // namespace bitpool
