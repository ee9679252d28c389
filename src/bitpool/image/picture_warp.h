#pragma once

#include <array>

#include "bitpool/image/picture.h"

namespace bitpool {

struct Point {
  double x = 0;
  double y = 0;
};

// Four corners in a picture, in pixels from its top left corner: top left, top right, bottom right,
// bottom left of what is seen.
using Corners = std::array<Point, 4>;

// The part of the picture within the corners, as a camera would see it, in this many pixels. Every
// pixel is the mean of what it covers; outside the picture everything is black. The same on every
// machine: only additions, multiplications, divisions and roots are used. Throws kInvalidArgument
// for a size below 1, corners that are not finite or not those of a convex shape, and pixels that
// do not match the sizes.
Picture Warp(const Picture& picture, const Corners& corners, Index width, Index height);

}  // namespace bitpool
