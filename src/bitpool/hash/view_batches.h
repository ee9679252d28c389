#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/hash/view_vectors.h"

namespace bitpool {

// The images of a batch: two different ones of every picture in it, one after the other.
using ViewPairs = std::vector<Index>;

// How many batches of about `batch` pictures, and at most one picture less than twice as many, an
// epoch has: at least one. None is small, since a picture is told apart from the others of its
// batch.
Index BatchesOf(Index pictures, Index batch);

// Every picture once, in random order and in batches whose sizes differ by one at most, with two of
// its images drawn at random. REQUIRES: per_picture >= 2
std::vector<ViewPairs> DrawViewPairs(Index pictures, Index per_picture, Index batch, Random random);

// Throws kInvalidArgument, saying what is needed, for fewer than two images of a picture, fewer
// than two pictures, and a number of images that is not a multiple of those of a picture.
void RequireViews(Index images, Index per_picture);

}  // namespace bitpool
