#include "bitpool/image/picture_text.h"

#include <algorithm>

#include "bitpool/image/testing.h"

namespace bitpool {
namespace {

using testing::SamePicture;

Picture Grey(Index width, Index height) {
  return {.width = width,
          .height = height,
          .pixels = std::vector<uint8_t>(static_cast<size_t>(3 * width * height), 90)};
}

struct Box {
  Index left = 1000, top = 1000, right = -1, bottom = -1, dots = 0;
};

// Where the pixels have the colour; all others must be grey.
Box Written(const Picture& picture, const std::array<uint8_t, 3>& colour) {
  Box box;
  for (Index y = 0; y < picture.height; ++y) {
    for (Index x = 0; x < picture.width; ++x) {
      const auto first = picture.pixels.begin() + 3 * (y * picture.width + x);
      if (std::all_of(first, first + 3, [](uint8_t value) { return value == 90; })) continue;
      EXPECT_TRUE(std::equal(first, first + 3, colour.begin()));
      box = {.left = std::min(box.left, x),
             .top = std::min(box.top, y),
             .right = std::max(box.right, x),
             .bottom = std::max(box.bottom, y),
             .dots = box.dots + 1};
    }
  }
  return box;
}

// 0.6 × 176 / 35 gives dots of 3 pixels, so 105 × 21 for the word, around (88, 75).
TEST(DrawSample, StandsAroundItsMiddleInItsColour) {
  Picture picture = Grey(176, 100);
  DrawSample(picture, {.width = 0.6, .middle = {0.5, 0.75}, .colour = {1, 2, 3}});
  const Box box = Written(picture, {1, 2, 3});
  EXPECT_EQ(box.left, 35);
  EXPECT_EQ(box.right, 35 + 104);
  EXPECT_EQ(box.top, 65);
  EXPECT_EQ(box.bottom, 65 + 20);
  EXPECT_EQ(box.dots, 95 * 9) << "the six letters have 15 + 18 + 18 + 15 + 11 + 18 dots";
}

TEST(DrawSample, LeavesOutWhatIsOutside) {
  Picture picture = Grey(176, 100);
  DrawSample(picture, {.width = 0.6, .middle = {0, 0}, .colour = {1, 2, 3}});
  const Box corner = Written(picture, {1, 2, 3});
  EXPECT_EQ(corner.left, 2) << "the picture begins between two letters";
  EXPECT_EQ(corner.top, 0);
  EXPECT_EQ(corner.right, 52);
  EXPECT_EQ(corner.bottom, 10);
  picture = Grey(176, 100);
  DrawSample(picture, {.width = 0.6, .middle = {3, 3}});
  EXPECT_TRUE(SamePicture(picture, Grey(176, 100)));
  picture = Grey(1, 1);
  DrawSample(picture, {});
  EXPECT_EQ(picture.pixels.size(), 3U);
}

}  // namespace
}  // namespace bitpool
