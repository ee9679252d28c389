#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "bitpool/io/env.h"

namespace bitpool {

// The bytes that `write` would write to a file, for formats that can only write files. It gets an
// environment that has the one file, at the path it is given, and no disk; whatever else it does
// with files throws kInternal. FileView::FromBytes is the way back.
std::vector<std::byte> WriteToMemory(
    const std::function<void(Env& env, const std::filesystem::path& path)>& write);

}  // namespace bitpool
