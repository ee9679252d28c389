#pragma once

#include <filesystem>

#include "bitpool/io/env.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

// Reads labels; the name tells the format:
//   .npy of one dimension, .idx, …-ubyte, .bin (CIFAR-10): one class per item
//   .npy of two dimensions: a row per item with 1 for its classes and 0 elsewhere
//   .txt: a line per item with its classes, separated by spaces or commas; an empty line for none
// Throws kCorrupt with the place of anything else.
Labels LoadLabels(Env& env, const std::filesystem::path& path);

// The .txt form of LoadLabels.
Labels ParseTextLabels(const FileView& view);

}  // namespace bitpool
