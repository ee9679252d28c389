#pragma once

#include <filesystem>
#include <optional>

#include "bitpool/codes/binary_codes.h"
#include "bitpool/io/env.h"

namespace bitpool {

// Reads packed codes: .npy or another file of vectors of bytes (u1), a row per code; or .hex /
// .txt, a line of hexadecimal digits per code. Without `bits` the codes have all bits of their
// bytes. Throws kCorrupt or kInvalidArgument that names the file.
BinaryCodes LoadCodes(Env& env, const std::filesystem::path& path, std::optional<int> bits);

}  // namespace bitpool
