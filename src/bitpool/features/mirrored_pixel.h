#pragma once

#include "bitpool/base/matrix.h"

// What this room shares: pictures that go on beyond their borders. Not for users.
namespace bitpool {

// The pixel of a line of `size` that is found at `position` when the line is continued by its
// mirror image on both sides, without end (position may be negative).
inline Index MirroredPixel(Index position, Index size) {
  const Index period = 2 * size;
  const Index inside = ((position % period) + period) % period;
  return inside < size ? inside : period - 1 - inside;
}

}  // namespace bitpool
