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

// The bytes of a file; none when it cannot be read.
std::vector<std::byte> TryReadBytes(Env& env, const std::filesystem::path& path) {
  try {
    return env.Read(path, MaxPictureBytes());
  } catch (const Error&) {
    return {};
  }
}

// The first page of a file, and whether there are more.
struct FirstPage {
  Picture picture;
  bool has_more = false;
};

std::optional<FirstPage> TryReadFirstPage(Env& env, const std::filesystem::path& path) {
  const DecodeOptions options = {.max_pixels = kMostPixels};
  const std::vector<std::byte> bytes = TryReadBytes(env, path);
  std::optional<Picture> picture = TryDecode(bytes, options);
  if (!picture) return std::nullopt;
  return FirstPage{.picture = *std::move(picture),
                   .has_more = InspectPicture(bytes, options).pages > 1};
}

}  // namespace

std::optional<Picture> ReadSmall(const LibrarySnapshot& library, const PictureFile& file) {
  const DecodeOptions options = {.max_side = kThumbnailSide};
  std::optional<Picture> picture = TryDecode(library.ReadThumbnail(file.id), options);
  return picture ? std::move(picture) : TryDecode(TryReadBytes(library.env(), file.path), options);
}

std::optional<bool> HaveSamePixels(const LibrarySnapshot& library, const PictureFile& a,
                                   const PictureFile& b) {
  const std::optional<FirstPage> first = TryReadFirstPage(library.env(), a.path);
  if (!first) return std::nullopt;
  if (first->has_more) return false;
  const std::optional<FirstPage> second = TryReadFirstPage(library.env(), b.path);
  if (!second) return std::nullopt;
  return !second->has_more && first->picture.width == second->picture.width &&
         first->picture.height == second->picture.height &&
         first->picture.pixels == second->picture.pixels;
}

}  // namespace bitpool
