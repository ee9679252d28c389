#pragma once

#include <filesystem>
#include <vector>

#include "bitpool/sandbox/sandbox.h"

namespace bitpool::app {

// For commands that decode pictures: takes from the process what their job does not need
// (SECURITY.md), as far as the system can, unless the environment says BITPOOL_SANDBOX=off.

// From now on, files can be written only in these folders and in those for temporary files. To be
// called before the first thread of the job.
void WriteOnlyTo(std::vector<std::filesystem::path> folders);
// No programs, no connections, no looking into other processes.
void ForgoOtherRights(Connections connections);
// Both, without a network, for a command that writes in these folders and these files; a file
// stands for its folder, and an empty path for nothing.
void KeepLeastRights(const std::vector<std::filesystem::path>& outputs);

}  // namespace bitpool::app
