#pragma once

#include <cstdint>

#include "bitpool/image/picture.h"

namespace bitpool {

// The perceptual hash by which many programs look for duplicates (pHash, imagehash and others): one
// bit for each of the 8 × 8 lowest frequencies but the constant ones of the cosine transform of the
// picture in 32 × 32 grey pixels, set where it is above their median. Bit x + 8 (y − 1) − 1 is of x
// half waves across and y down. Throws kInvalidArgument when the pixels do not match the sizes.
uint64_t PerceptualHash(const Picture& picture);

// The bits by which two hashes differ.
int HashDistance(uint64_t a, uint64_t b);

}  // namespace bitpool
