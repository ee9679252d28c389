#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "bitpool/base/run_context.h"

namespace bitpool::bench {

struct DuplicatesBenchOptions {
  std::filesystem::path pictures;  // a folder of pictures, with the folders in it
  int limit = 500;                 // this many, the first by their paths
  int bits = 64;                   // of the codes
  // A coder's file; empty: as `bitpool index` has it, the one that ships with the program.
  std::filesystem::path coder = {};

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// How often an edited copy of a picture finds the picture. The pictures are indexed as `bitpool
// index` does it, in a temporary folder; then every edit of PictureEdit of each picture, saved as
// JPEG of quality 95, is the query. For every edit, and over all:
// - "recall_at_1": the share of copies for which the first that `bitpool query` lists is their
//   picture; a copy that cannot be described has found nothing;
// - "recall_at_1_hamming": the same for `bitpool query --hamming`;
// - "within_radius": the share whose code is within the radius of `bitpool dedupe` ("radius");
// - "hash_within_radius": the same for PerceptualHash and the radius that is best for it
//   ("hash_radius"), the largest at which 99.5 % of the pairs are right;
// - "dedupe_recall": the share that `bitpool dedupe` joins with their picture, in a library of the
//   pictures and one copy of each; "dedupe_precision" is the share of all pairs in its groups that
//   are right.
// "distances" has, for radii of 0, 1, 2 … bits up to three eighths of them, the share of copies
// whose picture is within the radius ("found"), the share of the pairs of a copy and any picture
// within it that are right ("precision"), and the pairs within it for each right one
// ("candidates"). "hash_distances" has the same for PerceptualHash.
nlohmann::json RunDuplicatesBench(const DuplicatesBenchOptions& options, const RunContext& context);

}  // namespace bitpool::bench
