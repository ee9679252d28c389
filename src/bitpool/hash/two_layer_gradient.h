#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/two_layer_encoder.h"

namespace bitpool {

// What a map makes of a batch, in parallel, with what its gradient needs.
struct TwoLayerOutput {
  MatrixF hidden;       // max(0, W₁x + b₁); no rows without a hidden layer
  MatrixF projections;  // h
};
TwoLayerOutput ApplyMap(const TwoLayerMap& map, const MatrixF& batch, const RunContext& context);

// The gradient of a function of h with respect to the map, in parallel: every number at the place
// of the weight it belongs to. `gradient` is that with respect to h. The same bits at any number of
// threads.
TwoLayerMap GradientOfMap(const TwoLayerMap& map, const MatrixF& batch,
                          const TwoLayerOutput& output, const MatrixF& gradient,
                          const RunContext& context);

// A map of the same sizes with zeros.
TwoLayerMap ZeroMapLike(const TwoLayerMap& map);

}  // namespace bitpool
