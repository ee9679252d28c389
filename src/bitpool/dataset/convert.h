#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/dtype.h"
#include "bitpool/io/env.h"

namespace bitpool {

struct ConvertOptions {
  // Element type of the output. By default the one the format has, or that of the input (for .bpf
  // f2 or f4).
  std::optional<DType> dtype = {};
  // The number of descriptors of each image, one number per line of a .npy of one dimension: read
  // when a table of descriptors becomes a feature set, written when a feature set becomes a table.
  std::optional<std::filesystem::path> counts = {};
  // For a feature set that is made from vectors: every picture is followed by its views; a
  // picture and its views are this many images.
  Index images_per_picture = 1;
  IfExists if_exists = IfExists::kFail;
};

struct ConvertReport {
  uint64_t written = 0;               // samples, or images of a feature set
  std::vector<std::string> failures;  // inputs of a folder that could not be read, with the reason
};

// Converts between files of vectors (.npy .fvecs .bvecs .ivecs .bpv; read only: .siftgeo .bin .idx
// …-ubyte) and feature sets (.bpf), in bounded memory:
//   vectors → vectors      the same samples in another format or element type
//   .npy of three dimensions (images, descriptors, D) → .bpf
//   vectors → .bpf         with `counts`: the next counts[i] rows are the descriptors of image i
//   a folder → .bpf        each file of vectors in it is an image, in the order of their names
//   .bpf → vectors         all descriptors one after the other; `counts` receives how many each
//   image has
ConvertReport Convert(Env& env, const std::filesystem::path& in, const std::filesystem::path& out,
                      const ConvertOptions& options, const RunContext& context);

}  // namespace bitpool
