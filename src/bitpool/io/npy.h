#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bitpool/io/sample_file.h"

namespace bitpool {

// NumPy's .npy, versions 1 to 3: little-endian, C order, types f2 f4 f8 u1 i4 i8 u8, at least one
// dimension. The first dimension counts the samples. Throws kCorrupt or kUnsupported with the
// offset.
SampleFile ParseNpy(const std::shared_ptr<const FileView>& view);

// The header NumPy would write for an array of this type and shape, padded with spaces to exactly
// kNpyHeaderBytes (more where the shape needs it, which none of four dimensions does).
inline constexpr size_t kNpyHeaderBytes = 128;
std::string NpyHeader(DType dtype, std::span<const uint64_t> shape);

}  // namespace bitpool
