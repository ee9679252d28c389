#pragma once

#include "bitpool/image/picture_views.h"
#include "bitpool/pictures/picture_coder.h"

namespace bitpool {

inline constexpr int kShippedBits = 64;

// The coder that is part of the program: codes of kShippedBits by which copies of a picture are
// found, learned from pictures that may be passed on (docs/coder.md). It serves one picture or a
// million at once. Read when it is first asked for; may be called from many threads.
const PictureCoder& ShippedCoder();

// How a coder like it is learned from one's own pictures. `kind` says what to search for; copies
// and scenes are possible. Throws kInvalidArgument for another kind.
CoderTraining TrainingLikeShipped(ViewKind kind, int bits);

// Fewer pictures of the user's own are refused: the shipped coder has learned from more
// (docs/coder.md).
inline constexpr Index kLeastPicturesToLearn = 1000;

}  // namespace bitpool
