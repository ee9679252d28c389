#pragma once

#include <cstddef>
#include <vector>

#include "bitpool/image/picture.h"

namespace bitpool {

// The picture with its longest side at most `max_side`, in the same proportions; smaller pictures
// stay as they are. Throws kInvalidArgument when max_side is below 1 or the pixels do not match the
// sizes.
Picture ScaleToFit(const Picture& picture, Index max_side);

// A baseline JPEG without metadata. Throws kInvalidArgument when `quality` is not 1 to 100, a side
// is 0 or above 65,500, or the pixels do not match the sizes.
std::vector<std::byte> EncodeJpeg(const Picture& picture, int quality);

}  // namespace bitpool
