#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bitpool::app {

// KeepLeastRights for a command on a library that also writes these files. A shared library is
// reached over the network and keeps its files wherever it was told to, so its commands keep their
// rights.
void KeepLeastRightsWith(const std::string& library, std::vector<std::filesystem::path> outputs);

}  // namespace bitpool::app
