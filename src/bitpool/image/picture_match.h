#pragma once

#include "bitpool/image/picture_sketch.h"

namespace bitpool {

// What one picture is to another, as far as their pixels tell.
enum class PictureRelation {
  kDifferent,     // another picture, however similar
  kEdited,        // the same one: scaled, squeezed, saved again, in other colours, with a border
  kFirstIsPart,   // the first was cut out of the second
  kSecondIsPart,  // the second was cut out of the first
};

struct PictureMatch {
  PictureRelation relation = PictureRelation::kDifferent;
  // Of the small squares with something to see, where the two lie over each other, the share that
  // looks the same in both.
  double agreement = 0;
  // The shares of the pictures' areas that lie over each other.
  double first_covered = 0;
  double second_covered = 0;
};

// Finds out whether two pictures are the same, however they were scaled, cut, bordered, turned a
// little (up to about 15°) or changed in light and colour. First one is laid over the other as it
// is; where that does not fit, corners that look alike tell how it must be moved. Takes one to five
// milliseconds. May be called from many threads. Mirrored pictures do not match; see Mirrored.
PictureMatch MatchPictures(const PictureSketch& first, const PictureSketch& second);

}  // namespace bitpool
