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

}  // namespace bitpool
