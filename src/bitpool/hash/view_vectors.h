#pragma once

#include "bitpool/linalg/column_source.h"

namespace bitpool {

// Vectors of pictures and of their views. The images of one picture stand one after the other, all
// pictures have equally many, and the picture itself is the first.
struct ViewVectors {
  const ColumnSource& vectors;
  Index per_picture = 1;  // 1: there are no views
  Index pictures() const { return vectors.size() / per_picture; }
};

}  // namespace bitpool
