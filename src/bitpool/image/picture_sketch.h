#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/image/grey_image.h"
#include "bitpool/image/picture.h"

namespace bitpool {

// The longest side of what pictures are compared by. Thumbnails have enough pixels for it.
inline constexpr Index kSketchSide = 160;

// A place in a picture that can be told apart from its surroundings in every direction.
struct SketchCorner {
  float x = 0, y = 0;  // in pixels of the finest level
  int level = 0;
};

// What two pictures are compared by: the picture in grey, in a few sizes, and corners in it with
// what is around them. About 200 kB. Made from the picture or from a thumbnail of it.
struct PictureSketch {
  // Each smaller than the one before by the root of two; the first has a longest side of
  // kSketchSide, whatever that of the picture was.
  std::vector<GreyImage> levels;
  std::vector<SketchCorner> corners;
  // A column for each corner: a patch around it, with mean 0 and length 1.
  MatrixF patches;
  uint64_t hash = 0;  // perceptual
};

// Throws kInvalidArgument when the pixels do not match the sizes.
PictureSketch SketchPicture(const Picture& picture);

// The picture as a mirror shows it: left is right.
Picture Mirrored(const Picture& picture);

}  // namespace bitpool
