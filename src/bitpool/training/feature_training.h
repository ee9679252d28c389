#pragma once

#include <cstdint>
#include <filesystem>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/io/env.h"
#include "bitpool/linalg/trained.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/labels.h"
#include "bitpool/training/method.h"

namespace bitpool {

struct FeatureTraining {
  MethodSettings settings;
  // While a method of local features trains, `.records` and `.checkpoint` are kept beside this
  // file, which is usually the file of the model; while `sav` does, `.checkpoint` alone.
  std::filesystem::path output;
  const Labels* labels = nullptr;  // of the pictures, for methods that need them and only for those
  uint64_t memory = uint64_t{1} << 30;  // bytes of records that are kept in memory
  bool resume = false;                  // continue from the checkpoint, if there is one
};

// Trains any method on local features. Those that learn from local features themselves spill their
// records to a file when they do not fit. The others learn from the vectors of generalised max
// pooling, or of one that is learned where the settings ask for it. The former and `sav` write a
// checkpoint after every iteration, which stays: RemoveCheckpoint removes it once the model is
// saved. Images without descriptors are left out and named in the summary, with
// all views of the picture. Views are used by the methods that learn from them (UsesViews), and
// otherwise left out. Throws kInvalidArgument when the checkpoint is that of another job, or when
// labels are missing or not wanted.
Trained<HashModel> TrainOnFeatures(Env& env, const FeatureTraining& training,
                                   const FeatureSet& features, const RunContext& context);

// Ends a training whose model has been saved as `output`. To be called only then: before that, a
// full disk would cost the whole training.
void RemoveCheckpoint(Env& env, const std::filesystem::path& output);

}  // namespace bitpool
