#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "bitpool/base/run_context.h"
#include "bitpool/io/env.h"

namespace bitpool {

// Whether a file is one of our containers, by its first bytes.
bool IsContainer(Env& env, const std::filesystem::path& path);

// What a file holds, without reading all of it: "file", "bytes", "format", and
//   for containers: "kind", "metadata", "sections" (name, dtype, dims, bytes), and for feature sets
//   "images", "descriptors", "dimension", "descriptors_per_image" (min, mean, max);
//   for files of vectors: "dtype", "count", "sample_shape".
nlohmann::json InspectFile(Env& env, const std::filesystem::path& path);

// Reads a file completely and throws what is wrong with it: checksums of containers, every number
// of files of vectors.
void VerifyFile(Env& env, const std::filesystem::path& path, const RunContext& context);

}  // namespace bitpool
