#pragma once

#include "bitpool/features/grey_picture.h"

namespace bitpool {

// The picture without its surroundings: borders of one shade, and the lines of text that a
// telephone shows above and below a picture. Looks for the largest part of the rows, and then of
// the columns, between plain ones. What has no plain rows or columns at its edges stays as it is,
// and so does a picture of which less than a fifth of the height or width would be left.
GreyPicture CutPlainBorders(const GreyPicture& picture);

// The picture in another size: every pixel is the weighted mean of what it covers, with the weights
// of a tent that is two new pixels wide, or two old ones where the picture grows.
// REQUIRES: width and height of 1 or more.
GreyPicture ScaleGrey(const GreyPicture& picture, Index width, Index height);

}  // namespace bitpool
