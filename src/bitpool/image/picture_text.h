#pragma once

#include <array>
#include <cstdint>

#include "bitpool/image/picture.h"
#include "bitpool/image/picture_warp.h"

namespace bitpool {

// How a word is written into a picture.
struct TextPlacement {
  double width = 0.5;         // of the word, as a share of the picture's
  Point middle = {0.5, 0.5};  // of the word, as shares of the picture's sides
  std::array<uint8_t, 3> colour = {255, 255, 255};
};

// Writes the word SAMPLE in large letters of dots. What would be outside the picture is left out.
void DrawSample(Picture& picture, const TextPlacement& placement);

}  // namespace bitpool
