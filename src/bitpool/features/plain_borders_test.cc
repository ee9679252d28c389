#include "bitpool/features/plain_borders.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

GreyPicture NoisePicture(Index width, Index height, uint64_t seed) {
  Random random(seed);
  GreyPicture picture = {.width = width, .height = height, .pixels = {}};
  for (Index i = 0; i < width * height; ++i) {
    picture.pixels.push_back(static_cast<float>(random.Uniform()));
  }
  return picture;
}

GreyPicture Plain(Index width, Index height, float shade) {
  return {.width = width,
          .height = height,
          .pixels = std::vector<float>(static_cast<size_t>(width * height), shade)};
}

void Put(const GreyPicture& picture, Index left, Index top, GreyPicture& on) {
  for (Index y = 0; y < picture.height; ++y) {
    for (Index x = 0; x < picture.width; ++x) {
      on.pixels[static_cast<size_t>((top + y) * on.width + left + x)] =
          picture.pixels[static_cast<size_t>(y * picture.width + x)];
    }
  }
}

void ExpectSame(const GreyPicture& found, const GreyPicture& expected) {
  ASSERT_EQ(found.width, expected.width);
  ASSERT_EQ(found.height, expected.height);
  EXPECT_EQ(found.pixels, expected.pixels);
}

TEST(CutPlainBorders, FindsThePictureInItsBorder) {
  const GreyPicture picture = NoisePicture(60, 40, 1);
  for (const float shade : {0.0F, 0.4F, 1.0F}) {
    GreyPicture framed = Plain(100, 90, shade);
    Put(picture, 30, 11, framed);
    ExpectSame(CutPlainBorders(framed), picture);
  }
}

// What a telephone shows above and below a picture is apart from it.
TEST(CutPlainBorders, LeavesLinesOfTextBehind) {
  const GreyPicture picture = NoisePicture(90, 60, 2);
  GreyPicture screen = Plain(90, 195, 0);
  Put(NoisePicture(90, 6, 3), 0, 2, screen);
  Put(picture, 0, 67, screen);
  Put(NoisePicture(80, 8, 4), 5, 180, screen);
  ExpectSame(CutPlainBorders(screen), picture);
}

TEST(CutPlainBorders, LeavesPicturesWithoutBordersAlone) {
  ExpectSame(CutPlainBorders(NoisePicture(50, 30, 5)), NoisePicture(50, 30, 5));
  ExpectSame(CutPlainBorders(Plain(20, 10, 0.5F)), Plain(20, 10, 0.5F));
  ExpectSame(CutPlainBorders(Plain(1, 1, 0.5F)), Plain(1, 1, 0.5F));
  // A line from dark to bright, as of a sky, is not plain.
  GreyPicture sky = NoisePicture(64, 64, 6);
  for (size_t x = 0; x < 64; ++x) {
    for (size_t y = 0; y < 20; ++y) sky.pixels[64 * y + x] = static_cast<float>(x) / 64;
  }
  ExpectSame(CutPlainBorders(sky), sky);
}

// Too little would be left: a lonely dot is no picture with a border.
TEST(CutPlainBorders, KeepsAtLeastAFifth) {
  GreyPicture dot = Plain(100, 100, 1);
  Put(NoisePicture(10, 10, 7), 45, 45, dot);
  ExpectSame(CutPlainBorders(dot), dot);
}

// A slope stays a slope, away from its ends, whether it shrinks or grows.
TEST(ScaleGrey, KeepsWhatIsLinear) {
  GreyPicture slope = Plain(80, 60, 0);
  for (size_t i = 0; i < slope.pixels.size(); ++i) {
    slope.pixels[i] = static_cast<float>((static_cast<double>(i % 80) + 0.5) / 80);
  }
  for (const Index size : {20, 33, 80, 200}) {
    const GreyPicture scaled = ScaleGrey(slope, size, size);
    ASSERT_EQ(scaled.pixels.size(), static_cast<size_t>(size * size));
    for (Index x = size / 10; x < size - size / 10; ++x) {
      const double expected = (static_cast<double>(x) + 0.5) / static_cast<double>(size);
      EXPECT_NEAR(scaled.pixels[static_cast<size_t>(size * (size / 2) + x)], expected, 0.004);
    }
  }
}

TEST(ScaleGrey, GivesTheSamePixelsForTheSameSize) {
  ExpectSame(ScaleGrey(Plain(7, 5, 0.25F), 7, 5), Plain(7, 5, 0.25F));
  const GreyPicture one = ScaleGrey(NoisePicture(40, 30, 8), 1, 1);
  EXPECT_NEAR(one.pixels[0], 0.5, 0.05);
}

}  // namespace
}  // namespace bitpool
