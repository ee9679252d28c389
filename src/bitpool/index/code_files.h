#pragma once

#include <filesystem>
#include <optional>

#include "bitpool/codes/binary_codes.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/env.h"

namespace bitpool {

// Reads packed codes: .npy or another file of vectors of bytes (u1), a row per code; or .hex /
// .txt, a line of hexadecimal digits per code. Without `bits` the codes have all bits of their
// bytes. Throws kCorrupt or kInvalidArgument that names the file.
BinaryCodes LoadCodes(Env& env, const std::filesystem::path& path, std::optional<int> bits);

// Writes packed codes to .npy or .bpv (u1, a row per code) or to .hex.
void SaveCodes(Env& env, const std::filesystem::path& path, const BinaryCodes& codes,
               IfExists if_exists);

}  // namespace bitpool
