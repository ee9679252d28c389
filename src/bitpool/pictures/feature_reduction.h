#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/embed/local_pca.h"

namespace bitpool {

struct ReductionTraining {
  Index dimension = 512;    // to reduce to; fewer where there are not twice as many features
  Index pictures = 300;     // to learn from, drawn by the seed; all where there are fewer
  Index features = 30'000;  // from all of these pictures; each contributes its share

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

// Learns to reduce the features of some of `count` pictures. describe(i) gives those of one, raw,
// or none (0 columns) where it has none, and is called by many threads at once. Throws
// kInvalidArgument where there are not two features to learn from.
LocalPca LearnReduction(const ReductionTraining& training, size_t count,
                        const std::function<MatrixF(size_t)>& describe, const RunContext& context);

}  // namespace bitpool
