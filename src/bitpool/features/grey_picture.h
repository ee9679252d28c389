#pragma once

#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/image/picture.h"

namespace bitpool {

// A picture without colour: 0 is black and 1 is white, row by row from the top left.
struct GreyPicture {
  Index width = 0;
  Index height = 0;
  std::vector<float> pixels;  // width × height
};

// The luma of Rec. 601 (0.299, 0.587, 0.114), which is what most programs mean by grey. Throws
// kInvalidArgument for a picture whose size and pixels do not agree.
GreyPicture GreyOf(const Picture& picture);

}  // namespace bitpool
