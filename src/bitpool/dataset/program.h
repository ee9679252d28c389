#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"

namespace bitpool {

// Runs another program (found on the PATH, without a shell) in `folder` and waits for it. Throws
// kNotFound when there is no such program, kIo with the last line it printed when it fails, and
// kCancelled, after ending it, when the context is stopped.
void RunProgram(const std::vector<std::string>& command, const std::filesystem::path& folder,
                const RunContext& context);

}  // namespace bitpool
