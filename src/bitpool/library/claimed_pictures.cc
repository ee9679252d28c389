#include "bitpool/library/claimed_pictures.h"

#include <fmt/format.h>

#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {

ClaimedPictures::ClaimedPictures(Env& env, std::filesystem::path root, std::string name,
                                 std::span<const FoundPicture* const> found, PictureClaims& claims,
                                 const Patience& patience)
    : env_(env),
      root_(std::move(root)),
      name_(std::move(name)),
      claims_(claims),
      patience_(patience) {
  std::vector<std::string> paths;
  for (const FoundPicture* picture : found) {
    paths.push_back(picture->path);
    found_.emplace(picture->path, picture);
  }
  patience.Try([&] { claims_.Offer(paths); });
}

std::vector<FoundPicture> ClaimedPictures::Next(size_t most, const RunContext& context) {
  while (!context.stopped()) {
    const auto paths = patience_.Try([&] { return claims_.Claim(most); });
    if (!paths.empty()) {
      std::vector<FoundPicture> pictures;
      for (const std::string& path : paths) pictures.push_back(Look(path));
      return pictures;
    }
    const uint64_t left = patience_.Try([&] { return claims_.Count(); });
    if (left == 0) break;
    if (!std::exchange(told_, true)) {
      patience_.Tell(
          fmt::format("{}: waiting for {} pictures that other processes are at", name_, left));
    }
    Patience::Rest();
  }
  return {};
}

// A picture that only another process has found is looked at as FindPictures would have done. One
// that is not there has no size, and is found to be gone when it is read.
FoundPicture ClaimedPictures::Look(const std::string& path) const {
  const auto place = found_.find(path);
  if (place != found_.end()) return *place->second;
  try {
    const FileStatus status = env_.Status(root_ / path);
    return {.path = path, .size = status.size, .mtime_ns = status.modified_ns};
  } catch (const Error&) {
    return {.path = path};
  }
}

}  // namespace bitpool
