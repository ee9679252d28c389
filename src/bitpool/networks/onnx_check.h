#pragma once

#include <cstddef>
#include <span>

namespace bitpool {

// Checks an ONNX file for what OpenCV's reader takes on trust: that every tensor has as many
// numbers as its shape says. Throws kCorrupt, naming the tensor.
void RequireWholeTensors(std::span<const std::byte> file);

}  // namespace bitpool
