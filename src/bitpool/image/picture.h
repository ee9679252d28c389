#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/matrix.h"

namespace bitpool {

// A picture in colour: red, green and blue, 8 bits each, pixel after pixel, row by row from the top
// left, upright.
struct Picture {
  Index width = 0;
  Index height = 0;
  std::vector<uint8_t> pixels;  // 3 × width × height
};

// Throws kInvalidArgument unless both sides are 1 or more and the pixels match them.
void RequirePicture(const Picture& picture);

// The edges of a part of a picture, in pixels from the top left.
struct PartEdges {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// That part as a picture of its own: its edges are rounded to whole pixels, what is outside the
// picture is left out, and one row and one column are left at least. REQUIRES: a picture as
// RequirePicture has it, and finite edges.
Picture CropPicture(const Picture& picture, const PartEdges& edges);

}  // namespace bitpool
