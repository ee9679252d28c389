#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "bitpool/base/run_context.h"

namespace bitpool::bench {

struct MatchingBenchOptions {
  std::filesystem::path pictures;  // a folder of pictures, with the folders in it
  int limit = 200;                 // this many, evenly from all by their paths
  int strangers = 12;              // other pictures that each is compared with

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// How well the comparison of two pictures by their pixels tells copies from others, as `dedupe`
// does it: by thumbnails. Every edit of PictureEdit of each picture, saved as JPEG of quality 95,
// is compared with the picture: "found" is the share that is called the same, or a part. Then every
// picture is compared with the others that look most like it from afar (12 × 12 grey values), half
// of them edited: "wrong" counts those that are called the same, of "strangers". Times are
// processor times per pair, without reading the pictures.
nlohmann::json RunMatchingBench(const MatchingBenchOptions& options, const RunContext& context);

}  // namespace bitpool::bench
