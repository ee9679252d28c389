#pragma once

#include <filesystem>
#include <memory>

#include "bitpool/base/run_context.h"
#include "bitpool/index/code_index.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/env.h"

namespace bitpool {

// Saves an index as it is at this moment, without what was removed (.bpi).
void SaveIndex(Env& env, const std::filesystem::path& path, const CodeIndex& index,
               IfExists if_exists);

// Opens a saved index by mapping it: nothing is copied, and only the structure is checked, so it
// takes milliseconds at any size. The codes are verified now with `verify`, and otherwise in the
// background of the first search; searches after damage was found throw kCorrupt.
std::unique_ptr<CodeIndex> OpenIndex(Env& env, const std::filesystem::path& path, bool verify,
                                     const RunContext& context);

}  // namespace bitpool
