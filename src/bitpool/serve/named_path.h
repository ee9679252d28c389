#pragma once

#include <filesystem>
#include <string>

#include "bitpool/io/env.h"

namespace bitpool {

// What is to be served, and under which name.
struct NamedPath {
  std::string name;
  std::filesystem::path path;  // or the address of a shared library
};

// Reads NAME=PATH, or a path or an address alone, whose own name is then used: that of a library is
// the name of the folder it lies in, or of the database. Throws as ShownAddress.
NamedPath ParseNamedPath(Env& env, const std::string& text);

}  // namespace bitpool
