#include "bitpool/library/picture_reading.h"

#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/image/decode.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/pictures/picture_describer.h"

namespace bitpool {
namespace {

// Two pictures of this size are 300 MB.
constexpr uint64_t kMostPixels = 50'000'000;

std::optional<Picture> TryDecode(const std::vector<std::byte>& bytes,
                                 const DecodeOptions& options) {
  if (bytes.empty()) return std::nullopt;
  try {
    return DecodePicture(bytes, options);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<Picture> TryReadFile(Env& env, const std::filesystem::path& path,
                                   const DecodeOptions& options) {
  try {
    return TryDecode(env.Read(path, MaxPictureBytes()), options);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<Picture> ReadSmall(const LibrarySnapshot& library, const PictureFile& file) {
  const DecodeOptions options = {.max_side = kThumbnailSide};
  std::optional<Picture> picture = TryDecode(library.ReadThumbnail(file.id), options);
  return picture ? std::move(picture) : TryReadFile(library.env(), file.path, options);
}

std::optional<bool> HaveSamePixels(const LibrarySnapshot& library, const PictureFile& a,
                                   const PictureFile& b) {
  const DecodeOptions options = {.max_pixels = kMostPixels};
  const std::optional<Picture> first = TryReadFile(library.env(), a.path, options);
  if (!first) return std::nullopt;
  const std::optional<Picture> second = TryReadFile(library.env(), b.path, options);
  if (!second) return std::nullopt;
  return first->width == second->width && first->height == second->height &&
         first->pixels == second->pixels;
}

}  // namespace bitpool
