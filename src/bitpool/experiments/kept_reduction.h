#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "bitpool/base/run_context.h"
#include "bitpool/embed/local_pca.h"
#include "bitpool/io/env.h"
#include "bitpool/pictures/feature_reduction.h"

namespace bitpool {

// The reduction of features from the last run, or learned now (see LearnReduction) and kept in
// `file`. The caller's name for the file says all that decides the reduction except the training
// and the seed, which are added. Throws kCorrupt for a file that is damaged.
LocalPca KeptReduction(Env& env, const std::filesystem::path& file,
                       const ReductionTraining& training, size_t count,
                       const std::function<MatrixF(size_t)>& describe, const RunContext& context);

}  // namespace bitpool
