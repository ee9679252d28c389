#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bitpool::app {

// KeepLeastRights for a command on a library that also writes these files. One that is shared is
// reached over the network and has its files wherever it was told to: its commands keep their
// rights.
void KeepLeastRightsWith(const std::string& library, std::vector<std::filesystem::path> outputs);

}  // namespace bitpool::app
