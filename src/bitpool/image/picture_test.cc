#include "bitpool/image/picture.h"

#include <gtest/gtest.h>

namespace bitpool {
namespace {

// Of every pixel, its column and its row.
Picture Places(Index width, Index height) {
  Picture picture{.width = width, .height = height, .pixels = {}};
  for (Index row = 0; row < height; ++row) {
    for (Index column = 0; column < width; ++column) {
      picture.pixels.insert(picture.pixels.end(),
                            {static_cast<uint8_t>(column), static_cast<uint8_t>(row), 7});
    }
  }
  return picture;
}

void ExpectPart(const PartEdges& edges, Index left, Index top, Index width, Index height) {
  const Picture part = CropPicture(Places(8, 5), edges);
  ASSERT_EQ(part.width, width);
  ASSERT_EQ(part.height, height);
  RequirePicture(part);
  for (Index row = 0; row < height; ++row) {
    for (Index column = 0; column < width; ++column) {
      const auto at = static_cast<size_t>(3 * (row * width + column));
      EXPECT_EQ(part.pixels[at], left + column);
      EXPECT_EQ(part.pixels[at + 1], top + row);
      EXPECT_EQ(part.pixels[at + 2], 7);
    }
  }
}

TEST(CropPicture, GivesThePixelsBetweenTheEdges) {
  ExpectPart({.left = 0, .top = 0, .right = 8, .bottom = 5}, 0, 0, 8, 5);
  ExpectPart({.left = 2, .top = 1, .right = 5, .bottom = 4}, 2, 1, 3, 3);
  ExpectPart({.left = 1.5, .top = 0.4, .right = 4.4, .bottom = 2.5}, 2, 0, 2,
             3);  // rounded
}

TEST(CropPicture, StaysInThePictureAndIsNeverEmpty) {
  ExpectPart({.left = -3, .top = -1e9, .right = 20, .bottom = 1e9}, 0, 0, 8, 5);
  ExpectPart({.left = 3, .top = 2, .right = 3, .bottom = 2}, 3, 2, 1, 1);
  ExpectPart({.left = 5, .top = 4, .right = 2, .bottom = 1}, 5, 4, 1,
             1);  // the wrong way round
  ExpectPart({.left = 99, .top = 99, .right = 100, .bottom = 100}, 7, 4, 1, 1);
}

}  // namespace
}  // namespace bitpool
