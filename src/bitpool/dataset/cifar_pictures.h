#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bitpool/io/file_view.h"

namespace bitpool {

// Turns a PNG in which every row is one picture of 32×32 RGB pixels, and the labels of the rows,
// into the bytes of a CIFAR-10 binary batch (see io/cifar.h). Throws kCorrupt when the picture is
// damaged or of another size.
std::vector<std::byte> CifarBatchFromPng(const FileView& png, std::span<const int> labels);

}  // namespace bitpool
