#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/ridge.h"

namespace bitpool {

// Deviation of a dimension of scaled vectors, on average. A step of Adam changes every weight by
// about the learning rate, whatever the scale of the vectors is; so this constant is the share of
// the weights that a step changes.
inline constexpr double kScaledDeviation = 1;

// How vectors are scaled before maps of them are learned by gradients: (x − mean) / unit.
struct ViewScale {
  VectorD mean;
  double unit = 1;
  VectorD deviations;  // of every output of the map that was measured; 1 for constant ones
};

// One pass. Throws kInvalidArgument, naming the column, for numbers that are not finite, and for
// vectors that are all alike.
ViewScale MeasureViews(const ColumnSource& vectors, const LinearMap& map,
                       const RunContext& context);

// The map for scaled vectors that gives what `map`, with every output divided by its deviation,
// gives for the vectors themselves.
LinearMap ScaledStart(const ViewScale& scale, const LinearMap& map);

// The map for the vectors themselves that gives what `map` gives for scaled ones.
LinearMap Unscaled(const ViewScale& scale, const LinearMap& map);

}  // namespace bitpool
