#pragma once

#include "bitpool/base/matrix.h"

namespace bitpool {

// One vector for the local descriptors of an image (a column each), without anything to learn or
// to solve. All throw kInvalidArgument without descriptors, or for values that are not finite.

VectorF SumPooling(const MatrixFRef& descriptors);
VectorF MeanPooling(const MatrixFRef& descriptors);

// The largest value of each row. Only for features that are not negative, such as those after a
// rectifier: throws kInvalidArgument for others, whose large negative values it would hide.
VectorF MaxPooling(const MatrixFRef& descriptors);

// Gives every column the length one; columns of zeros stay. Throws kInvalidArgument for values that
// are not finite.
void NormaliseColumns(MatrixF& descriptors);

// Throws kInvalidArgument for a matrix without columns.
void RequireDescriptors(const MatrixFRef& descriptors);

}  // namespace bitpool
