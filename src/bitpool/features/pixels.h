#pragma once

#include <cstdint>
#include <span>

#include "bitpool/base/matrix.h"

namespace bitpool {

// The pixels themselves as features: one picture per column, bytes 0..255 scaled to [0, 1], which
// keeps squared distances and kernels in a range that does not depend on the depth of the pixels.
// Throws kInvalidArgument when `pixels` is not a whole number of pictures.
MatrixF PixelColumns(std::span<const uint8_t> pixels, Index per_picture);

// Grey pictures, one per column, with the values 0..255 that GistExtractor takes, from pictures of
// three planes (red, green, blue) of `pixels_per_plane` bytes each, as CIFAR-10 stores them. Grey
// is the plain mean of the three, as in the authors' GIST; no weights of luminance. Throws
// kInvalidArgument when `planes` is not a whole number of pictures.
MatrixF GreyColumns(std::span<const uint8_t> planes, Index pixels_per_plane);

}  // namespace bitpool
