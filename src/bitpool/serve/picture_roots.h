#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/io/env.h"

namespace bitpool {

// The folders that a library has its pictures in.
struct PictureRoots {
  std::filesystem::path root;             // relative paths begin here
  std::vector<std::string> further = {};  // absolute paths begin with one of these

  // The file at a path. Throws kCorrupt for one that leads out of the folders: no update writes
  // such a path, so somebody else has changed the catalogue, or the file of a decision.
  std::filesystem::path Locate(const std::string& path) const;
  // A folder that a client names, absolute or relative to the root, as a canonical path; nothing
  // unless it is there and in one of these, wherever links lead.
  std::optional<std::filesystem::path> FindFolder(Env& env, const std::string& folder) const;
};

}  // namespace bitpool
