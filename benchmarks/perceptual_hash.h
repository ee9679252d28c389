#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/image/picture.h"

namespace bitpool::bench {

// The perceptual hash that many programs look for duplicates with (pHash, imagehash and others):
// 64 bits, one for each of the 8 × 8 lowest frequencies but the constant ones of the cosine
// transform of the picture in 32 × 32 grey pixels, set where it is above their median. Packed as
// codes are.
std::vector<uint8_t> PerceptualHash(const Picture& picture);

}  // namespace bitpool::bench
