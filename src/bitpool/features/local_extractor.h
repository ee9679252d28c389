#pragma once

#include "bitpool/base/matrix.h"
#include "bitpool/image/picture.h"

namespace bitpool {

// Turns a picture into local descriptors. Never changes and may be used from many threads.
class LocalExtractor {
 public:
  virtual ~LocalExtractor() = default;

  virtual Index dimension() const = 0;  // of a descriptor
  // Whether every picture has one descriptor, a vector of the whole, and needs no pooling.
  virtual bool gives_one_vector() const { return false; }

  // The descriptors, one per column; none (dimension() × 0) where there is nothing to describe. The
  // same picture always gives the same bits. Throws kInvalidArgument for an invalid picture.
  virtual MatrixF Extract(const Picture& picture) const = 0;
};

}  // namespace bitpool
