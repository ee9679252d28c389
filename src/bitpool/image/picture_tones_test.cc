#include "bitpool/image/picture_tones.h"

#include <algorithm>
#include <cmath>

#include "bitpool/image/testing.h"

namespace bitpool {
namespace {

using testing::SamePicture;
using testing::SmoothPicture;

Picture UniformPicture(Index width, Index height, uint8_t value) {
  return {.width = width,
          .height = height,
          .pixels = std::vector<uint8_t>(static_cast<size_t>(3 * width * height), value)};
}

// A picture of one row, in grey.
Picture Row(const std::vector<uint8_t>& values) {
  Picture picture{.width = static_cast<Index>(values.size()), .height = 1, .pixels = {}};
  for (const uint8_t value : values) picture.pixels.insert(picture.pixels.end(), 3, value);
  return picture;
}

// The same one below the other.
Picture Column(const std::vector<uint8_t>& values) {
  Picture picture = Row(values);
  std::swap(picture.width, picture.height);
  return picture;
}

// The mean of the six values is 100: half the contrast halves their distances to it.
TEST(ChangeLight, MovesValuesAwayFromTheMeanAndMultipliesThem) {
  const Picture before{.width = 2, .height = 1, .pixels = {100, 50, 150, 200, 0, 100}};
  Picture picture = before;
  ChangeLight(picture, {.contrast = 0.5});
  EXPECT_EQ(picture.pixels, (std::vector<uint8_t>{100, 75, 125, 150, 50, 100}));
  picture = before;
  ChangeLight(picture, {.contrast = 0.5, .brightness = 1.2});
  EXPECT_EQ(picture.pixels, (std::vector<uint8_t>{120, 90, 150, 180, 60, 120}));
  picture = before;
  ChangeLight(picture, {.contrast = 0.5, .brightness = 1.2, .channels = {1, 0.5, 2}});
  EXPECT_EQ(picture.pixels, (std::vector<uint8_t>{120, 45, 255, 180, 30, 240}));
  picture = before;
  ChangeLight(picture, {.contrast = 3});
  EXPECT_EQ(picture.pixels, (std::vector<uint8_t>{100, 0, 250, 255, 0, 100}));
  picture = before;
  ChangeLight(picture, {});
  EXPECT_TRUE(SamePicture(picture, before));
}

TEST(MakeGrey, IsTheLuminance) {
  Picture picture{.width = 2, .height = 2, .pixels = {255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30}};
  MakeGrey(picture);
  // 255 × 0.299 = 76.2, 255 × 0.587 = 149.7, 255 × 0.114 = 29.1, 2.99 + 11.74 + 3.42 = 18.2
  EXPECT_EQ(picture.pixels,
            (std::vector<uint8_t>{76, 76, 76, 150, 150, 150, 29, 29, 29, 18, 18, 18}));
  Picture grey = UniformPicture(3, 2, 201);
  MakeGrey(grey);
  EXPECT_TRUE(SamePicture(grey, UniformPicture(3, 2, 201)));
}

// A white pixel's thirds, and the thirds of these.
TEST(Blur, SpreadsAPixelTwice) {
  for (const auto& line : {Row, Column}) {
    Picture picture = line({0, 0, 90, 0, 0});
    Blur(picture, 1);
    EXPECT_TRUE(SamePicture(picture, line({10, 20, 30, 20, 10})));
  }
}

// The mean of a square around a pixel; what lies outside is what lies at the edge.
std::vector<double> BoxMeans(const std::vector<double>& values, Index width, Index height,
                             Index radius) {
  std::vector<double> means(values.size());
  const auto area = static_cast<double>((2 * radius + 1) * (2 * radius + 1));
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      for (Index channel = 0; channel < 3; ++channel) {
        double& mean = means[static_cast<size_t>(3 * (y * width + x) + channel)];
        for (Index dy = -radius; dy <= radius; ++dy) {
          for (Index dx = -radius; dx <= radius; ++dx) {
            const Index row = std::clamp<Index>(y + dy, 0, height - 1);
            const Index column = std::clamp<Index>(x + dx, 0, width - 1);
            mean += values[static_cast<size_t>(3 * (row * width + column) + channel)] / area;
          }
        }
      }
    }
  }
  return means;
}

// Each of the four passes rounds by a half at most.
TEST(Blur, IsTheMeanOfSquaresTwice) {
  Picture picture = UniformPicture(13, 9, 0);
  Random random(1);
  for (uint8_t& value : picture.pixels) value = static_cast<uint8_t>(random.Below(256));
  for (const Index radius : {1, 2, 5, 20}) {
    Picture blurred = picture;
    Blur(blurred, radius);
    const std::vector<double> values(picture.pixels.begin(), picture.pixels.end());
    const std::vector<double> expected = BoxMeans(BoxMeans(values, 13, 9, radius), 13, 9, radius);
    double bias = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(blurred.pixels[i], expected[i], 2.01) << radius;
      bias += blurred.pixels[i] - expected[i];
    }
    EXPECT_LT(std::abs(bias) / static_cast<double>(expected.size()), 0.5);
  }
}

TEST(Blur, LeavesPlainPicturesAndRadiusZeroAlone) {
  for (const Index radius : {0, 1, 3, 50}) {
    for (const int grey : {0, 1, 77, 254, 255}) {
      const auto value = static_cast<uint8_t>(grey);
      Picture picture = UniformPicture(7, 3, value);
      Blur(picture, radius);
      EXPECT_TRUE(SamePicture(picture, UniformPicture(7, 3, value)));
    }
  }
  Picture picture = SmoothPicture(30, 20);
  Blur(picture, 0);
  EXPECT_TRUE(SamePicture(picture, SmoothPicture(30, 20)));
}

// Blurred, the row is 110, 120, 130, 120, 110.
TEST(Sharpen, AddsTheDifferenceToTheBlurredPicture) {
  Picture picture = Row({100, 100, 190, 100, 100});
  Sharpen(picture, 0.5);
  EXPECT_TRUE(SamePicture(picture, Row({95, 90, 220, 90, 95})));
  Sharpen(picture, 100);
  EXPECT_EQ(picture.pixels[0], 0);
  EXPECT_EQ(picture.pixels[6], 255);
  Picture plain = UniformPicture(4, 4, 9);
  Sharpen(plain, 3);
  EXPECT_TRUE(SamePicture(plain, UniformPicture(4, 4, 9)));
}

TEST(AddNoise, HasTheMeanZeroAndTheDeviation) {
  for (const double deviation : {3.0, 25.0}) {
    Picture picture = UniformPicture(201, 199, 128);
    Random random(7);
    AddNoise(picture, deviation, random);
    double sum = 0, squares = 0, products = 0;
    for (size_t i = 0; i < picture.pixels.size(); ++i) {
      const double value = picture.pixels[i] - 128.0;
      sum += value;
      squares += value * value;
      if (i > 0) products += value * (picture.pixels[i - 1] - 128.0);
    }
    const auto count = static_cast<double>(picture.pixels.size());
    EXPECT_NEAR(sum / count, 0, 0.015 * deviation);
    // Rounding adds the variance of a uniform number.
    EXPECT_NEAR(std::sqrt(squares / count - 1.0 / 12), deviation, 0.01 * deviation);
    EXPECT_LT(std::abs(products / squares), 0.015) << "neighbours know of each other";
  }
}

TEST(AddNoise, IsTheSameForTheSameState) {
  const auto noisy = [](uint64_t seed, double deviation) {
    Picture picture = SmoothPicture(11, 7);  // an odd number of values
    Random random(seed);
    AddNoise(picture, deviation, random);
    return picture;
  };
  EXPECT_TRUE(SamePicture(noisy(1, 10), noisy(1, 10)));
  EXPECT_FALSE(SamePicture(noisy(1, 10), noisy(2, 10)));
  EXPECT_TRUE(SamePicture(noisy(1, 0), SmoothPicture(11, 7)));
  Random random(1);
  Picture black = UniformPicture(50, 50, 0);
  AddNoise(black, 10, random);
  EXPECT_LT(*std::ranges::max_element(black.pixels), 60) << "values below 0 do not wrap";
}

}  // namespace
}  // namespace bitpool
