#pragma once

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"

namespace bitpool {

// k-means++: this many of the samples, the first drawn uniformly and each later one with a
// probability proportional to its squared distance to the nearest of those before. For samples
// already drawn that is zero, so a sample is drawn twice only when no different one is left.
// REQUIRES: there are samples.
MatrixF ChooseSeeds(MatrixF samples, Index clusters, const RunContext& context);

}  // namespace bitpool
