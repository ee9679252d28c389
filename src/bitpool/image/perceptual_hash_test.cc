#include "bitpool/image/perceptual_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "bitpool/base/error.h"
#include "bitpool/image/edits/picture_edits.h"
#include "bitpool/image/picture_sketch.h"

namespace bitpool {
namespace {

// Waves of one frequency across and one down.
Picture Waves(Index side, int across, int down, double sign) {
  Picture picture = {.width = side, .height = side, .pixels = {}};
  const auto wave = [&](Index i, int frequency) {
    return std::cos(std::numbers::pi * frequency * (static_cast<double>(i) + 0.5) /
                    static_cast<double>(side));
  };
  for (Index y = 0; y < side; ++y) {
    for (Index x = 0; x < side; ++x) {
      const double value = 128 + sign * 100 * wave(x, across) * wave(y, down);
      picture.pixels.insert(picture.pixels.end(), 3, static_cast<uint8_t>(value));
    }
  }
  return picture;
}

// Waves of all frequencies of the hash, each of a strength of its own.
Picture ManyWaves(Index width, Index height) {
  Picture picture = {.width = width, .height = height, .pixels = {}};
  const auto wave = [](Index i, Index length, int frequency) {
    return std::cos(std::numbers::pi * frequency * (static_cast<double>(i) + 0.5) /
                    static_cast<double>(length));
  };
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      double value = 128;
      for (int i = 0; i < 64; ++i) {
        value += (i * 37 % 64 - 31.5) / 4 * wave(x, width, 1 + i % 8) * wave(y, height, 1 + i / 8);
      }
      picture.pixels.insert(picture.pixels.end(), 3,
                            static_cast<uint8_t>(std::clamp(value, 0.0, 255.0)));
    }
  }
  return picture;
}

bool Bit(uint64_t hash, int across, int down) {
  return (hash >> ((across - 1) + 8 * (down - 1)) & 1) != 0;
}

TEST(PerceptualHash, HasABitForEveryFrequency) {
  for (const auto& [across, down] : {std::pair{1, 1}, {3, 2}, {8, 8}, {5, 7}}) {
    EXPECT_TRUE(Bit(PerceptualHash(Waves(128, across, down, 1)), across, down));
    EXPECT_FALSE(Bit(PerceptualHash(Waves(128, across, down, -1)), across, down));
  }
}

TEST(PerceptualHash, HalfOfTheBitsAreSet) {
  Picture picture = Waves(100, 2, 3, 1);
  for (size_t i = 0; i < picture.pixels.size(); ++i) {
    picture.pixels[i] = static_cast<uint8_t>(picture.pixels[i] / 2 + i * i % 97);
  }
  EXPECT_EQ(std::popcount(PerceptualHash(picture)), 32);
}

TEST(PerceptualHash, LightAndSizeMakeNoDifference) {
  const Picture picture = ManyWaves(96, 64);
  Picture darker = ApplyEdit(PictureEdit::kHalfSize, picture);
  for (uint8_t& value : darker.pixels) value = static_cast<uint8_t>(value / 2 + 20);
  EXPECT_LE(HashDistance(PerceptualHash(picture), PerceptualHash(darker)), 4);
  EXPECT_GE(HashDistance(PerceptualHash(picture), PerceptualHash(Mirrored(picture))), 16);
}

TEST(PerceptualHash, DistancesCountBits) {
  EXPECT_EQ(HashDistance(0, 0), 0);
  EXPECT_EQ(HashDistance(0, ~uint64_t{0}), 64);
  EXPECT_EQ(HashDistance(0b1011, 0b0110), 3);
}

TEST(PerceptualHash, RefusesWhatIsNoPicture) {
  EXPECT_THROW(PerceptualHash({.width = 2, .height = 2, .pixels = {}}), Error);
}

}  // namespace
}  // namespace bitpool
