#pragma once

#include <cstdint>

#include "bitpool/base/matrix.h"

namespace bitpool {

// Conversions between columns of real values and packed codes, by vector instructions. A row has
// BytesPerCode(bits) bytes.

// Writes the code of each of `count` columns of `bits` values: a bit is 1 where the value is not
// negative (sgn(0) = +1); bits beyond the length are zero. Returns the number of the first column
// with a value that is not a number, or `count` when there is none.
Index PackSigns(const float* values, Index bits, Index count, uint8_t* rows);

// The reverse: +1 where the bit is 1, −1 elsewhere.
void UnpackSigns(const uint8_t* rows, Index bits, Index count, float* values);

}  // namespace bitpool
