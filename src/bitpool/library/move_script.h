#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bitpool/library/library_duplicates.h"

namespace bitpool {

// A script for a POSIX shell that moves the pictures of each group that are not to be kept to a
// folder that is named when it is run, under the paths they had. It deletes and replaces nothing,
// and leaves a group alone whose best copy is no longer there. Links are left alone too: the other
// copy may be what they lead to. Any name is safe in it.
std::string MoveScript(const std::filesystem::path& root,
                       const std::vector<DuplicateGroup>& groups);

}  // namespace bitpool
