#pragma once

#include <vector>

#include "bitpool/image/picture.h"

// Pictures as numbers, for comparing them.
namespace bitpool {

// Luminance, row by row from the top left, 0 to 255.
struct GreyImage {
  Index width = 0;
  Index height = 0;
  std::vector<float> values;

  float& at(Index x, Index y) { return values[static_cast<size_t>(y * width + x)]; }
  float at(Index x, Index y) const { return values[static_cast<size_t>(y * width + x)]; }
};

GreyImage ToGreyImage(const Picture& picture);

// Larger or smaller; every value is a mean of what it covers, weighted by a triangle.
GreyImage Resize(const GreyImage& image, Index width, Index height);

// Means with the weights 1, 2, 1 across and down.
GreyImage Smooth(const GreyImage& image);

// The value between pixels, whose centres are at whole numbers. REQUIRES: 0 ≤ x ≤ width − 1, and
// likewise for y.
inline float ValueAt(const GreyImage& image, float x, float y) {
  const auto left = static_cast<Index>(x), top = static_cast<Index>(y);
  const Index right = left + 1 < image.width ? left + 1 : left;
  const Index bottom = top + 1 < image.height ? top + 1 : top;
  const float across = x - static_cast<float>(left), down = y - static_cast<float>(top);
  const float above = image.at(left, top) + across * (image.at(right, top) - image.at(left, top));
  const float below =
      image.at(left, bottom) + across * (image.at(right, bottom) - image.at(left, bottom));
  return above + down * (below - above);
}

}  // namespace bitpool
