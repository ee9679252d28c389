#pragma once

#include "bitpool/dataset/public_sets.h"
#include "bitpool/image/picture.h"

namespace bitpool {

// A picture of a public set, in colour; grey ones have all three colours alike.
Picture PictureAt(const LabelledPictures& set, Index index);

}  // namespace bitpool
