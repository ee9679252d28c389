#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/env.h"
#include "bitpool/pictures/picture_describer.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool {

struct PictureExtraction {
  std::filesystem::path folder;  // with the pictures, and folders of more
  std::filesystem::path output;  // .bpf
  IfExists if_exists = IfExists::kFail;
  ViewPlan views = {};     // described along with every picture
  Index limit = 0;         // only this many pictures, the first by path; 0: all
  Index part_size = 1000;  // the most pictures that are lost when the job is interrupted
  bool resume = false;     // go on with the parts that an interrupted job left

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

struct ExtractedPictures {
  Index pictures = 0;
  Index descriptors = 0;
  Index resumed = 0;                  // pictures that an interrupted job had described
  std::vector<FailedPicture> failed;  // left out: pictures, and folders that cannot be read
};

// The settings that determine the views of a picture.
nlohmann::json DescribeViews(const ViewPlan& plan);

// The local features of all pictures of a folder as a feature set, in half precision, in the order
// of their paths, which are their names; views stand after their picture, as "PATH#1" and so on.
// Two pictures for each thread are in memory.
//
// The features are first written in parts beside the output, `OUTPUT.part-00000` and so on, which
// are joined and removed at the end. An interrupted job leaves its complete parts. If the next job
// is asked to resume, it uses those that are of the same pictures (paths, sizes and times)
// described in the same way; otherwise it removes them. Until the end the features are on the disk
// once, and twice while they are joined.
ExtractedPictures ExtractPictures(Env& env, const PictureDescriber& describer,
                                  const PictureExtraction& job, const RunContext& context);

}  // namespace bitpool
