#include "bitpool/serve/picture_roots.h"

#include <algorithm>

#include "bitpool/base/error.h"
#include "bitpool/library/library_folder.h"

namespace bitpool {

std::filesystem::path PictureRoots::Locate(const std::string& path) const {
  const std::filesystem::path parts = path;
  const bool inside =
      parts.is_relative() || std::ranges::any_of(further, [&](const std::string& folder) {
        return IsInFolder(path, folder);
      });
  if (inside && std::ranges::find(parts, "..") == parts.end()) return root / parts;
  throw Error(ErrorCode::kCorrupt, "its path leads out of the library");
}

std::optional<std::filesystem::path> PictureRoots::FindFolder(Env& env,
                                                              const std::string& folder) const {
  const std::filesystem::path there = env.Canonical(root / folder);
  const auto is_in = [&](const std::filesystem::path& one) {
    return IsInFolder(there.native(), env.Canonical(one).native());
  };
  const bool inside = is_in(root) || std::ranges::any_of(further, is_in);
  return inside && env.IsFolder(there) ? std::optional(there) : std::nullopt;
}

}  // namespace bitpool
