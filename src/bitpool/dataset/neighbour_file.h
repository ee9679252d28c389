#pragma once

#include <filesystem>

#include "bitpool/io/env.h"
#include "bitpool/samples/ground_truth.h"

namespace bitpool {

// Reads neighbours: a row per query (.ivecs, .npy) with the indices of its nearest database items.
// −1 means none.
ListedTruth LoadNeighbours(Env& env, const std::filesystem::path& path, Index database_size);

}  // namespace bitpool
