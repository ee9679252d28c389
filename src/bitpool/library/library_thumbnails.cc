#include "bitpool/library/library_thumbnails.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "bitpool/base/error.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/perceptual_hash.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/io/atomic_file.h"

namespace bitpool {
namespace {

constexpr int kThumbnailQuality = 80;
constexpr uint64_t kInOneFolder = 1000;
constexpr uint64_t kMostBytes = uint64_t{16} << 20;  // ours are a hundredth of this

}  // namespace

std::vector<std::byte> MakeThumbnail(std::span<const std::byte> picture) {
  return EncodeJpeg(DecodePicture(picture, {.max_side = kThumbnailSide}), kThumbnailQuality);
}

std::vector<std::byte> ThumbnailOf(const Picture& decoded) {
  return EncodeJpeg(ScaleToFit(decoded, kThumbnailSide), kThumbnailQuality);
}

std::optional<uint64_t> HashOfThumbnail(std::span<const std::byte> thumbnail) {
  if (thumbnail.empty()) return std::nullopt;
  try {
    return PerceptualHash(DecodePicture(thumbnail, {.max_side = kThumbnailSide}));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::filesystem::path LibraryThumbnails::PathOf(uint64_t id) const {
  return folder_ / std::to_string(id / kInOneFolder) / (std::to_string(id) + ".jpg");
}

std::vector<std::byte> LibraryThumbnails::Read(uint64_t id) const {
  try {
    return env_.Read(PathOf(id), kMostBytes);
  } catch (const Error&) {
    return {};
  }
}

std::vector<uint64_t> LibraryThumbnails::ListFiles() const {
  std::vector<uint64_t> ids;
  if (!env_.Exists(folder_)) return ids;  // which throws where that cannot be known
  for (const FolderEntry& thousand : env_.ListEntries(folder_)) {
    if (thousand.kind != FileKind::kFolder) continue;
    for (const FolderEntry& entry : env_.ListEntries(folder_ / thousand.name)) {
      uint64_t id = 0;
      const char* end = entry.name.data() + entry.name.size();
      const auto [rest, error] = std::from_chars(entry.name.data(), end, id);
      const bool ours = error == std::errc() && std::string_view(rest, end) == ".jpg";
      if (ours && thousand.name == std::to_string(id / kInOneFolder)) ids.push_back(id);
    }
  }
  std::ranges::sort(ids);
  return ids;
}

std::vector<uint64_t> LibraryThumbnails::List() const {
  std::vector<uint64_t> ids = ListFiles();
  std::erase_if(ids, [&](uint64_t id) {
    const std::filesystem::path path = PathOf(id);
    // Another process may have removed it meanwhile.
    return !env_.Exists(path) || env_.Status(path).size == 0;
  });
  return ids;
}

void LibraryThumbnails::Write(uint64_t id, std::span<const std::byte> thumbnail) const {
  if (thumbnail.empty()) return;
  const std::filesystem::path path = PathOf(id);
  env_.MakeFolders(path.parent_path());
  // Not replaced: a process that is killed while it replaces a file may leave litter.
  Remove(id);
  try {
    WriteFile(env_, path, thumbnail, IfExists::kFail);
  } catch (const Error&) {
    if (!env_.Exists(path)) throw;  // otherwise another process was faster
  }
}

void LibraryThumbnails::Remove(uint64_t id) const {
  try {
    env_.Remove(PathOf(id));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
  }
}

void LibraryThumbnails::RemoveAllBut(std::span<const uint64_t> ids) const {
  for (const uint64_t id : ListFiles()) {
    if (!std::ranges::binary_search(ids, id)) Remove(id);
  }
}

}  // namespace bitpool
