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

}  // namespace bitpool
