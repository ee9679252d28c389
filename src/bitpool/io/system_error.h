#pragma once

#include <filesystem>

namespace bitpool {

// Throws what the system says, about this path: "cannot open: No such file or directory".
[[noreturn]] void ThrowSystem(const std::filesystem::path& path, const char* action,
                              int error_number);

}  // namespace bitpool
