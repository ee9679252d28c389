#pragma once

#include <cstdint>
#include <filesystem>

#include "bitpool/base/run_context.h"
#include "bitpool/dataset/feature_set.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/io/env.h"
#include "bitpool/linalg/trained.h"
#include "bitpool/pipeline/hash_methods.h"

namespace bitpool {

struct FeatureTraining {
  HashSettings settings;  // a name of FeatureMethods()
  // Beside this file `.records` and `.checkpoint` are kept while SAH trains; usually the model's.
  std::filesystem::path output;
  uint64_t memory = uint64_t{1} << 30;  // records of images are kept in memory up to so many bytes
  bool resume = false;                  // go on from the checkpoint, if there is one
};

// Trains a method on local features. SAH spills its records to a file when they do not fit, and
// writes a checkpoint after every iteration, which is removed at the end. The other methods learn
// from the vectors of generalised max pooling. Images without descriptors are left out and named in
// the summary. Throws kInvalidArgument when the checkpoint is that of another job.
Trained<HashModel> TrainOnFeatures(Env& env, const FeatureTraining& training,
                                   const FeatureSet& features, const RunContext& context);

}  // namespace bitpool
