#include "bitpool/image/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bitpool/base/error.h"

namespace bitpool {

void RequirePicture(const Picture& picture) {
  if (picture.width >= 1 && picture.height >= 1 &&
      picture.pixels.size() / 3 / static_cast<size_t>(picture.width) ==
          static_cast<size_t>(picture.height) &&
      picture.pixels.size() == static_cast<size_t>(3 * picture.width * picture.height)) {
    return;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("a picture of {}×{} with {} bytes, expected sides of 1 or more and 3 "
                          "bytes for each pixel",
                          picture.width, picture.height, picture.pixels.size()));
}

Picture CropPicture(const Picture& picture, const PartEdges& edges) {
  const auto place = [](double edge, Index end) {
    return std::clamp<Index>(std::lround(edge), 0, end);
  };
  const Index left = place(edges.left, picture.width - 1);
  const Index top = place(edges.top, picture.height - 1);
  const Index right = std::max(left + 1, place(edges.right, picture.width));
  const Index bottom = std::max(top + 1, place(edges.bottom, picture.height));
  Picture part{.width = right - left, .height = bottom - top, .pixels = {}};
  part.pixels.reserve(static_cast<size_t>(3 * part.width * part.height));
  for (Index row = top; row < bottom; ++row) {
    const auto begin = picture.pixels.begin() + 3 * (row * picture.width + left);
    part.pixels.insert(part.pixels.end(), begin, begin + 3 * part.width);
  }
  return part;
}

}  // namespace bitpool
