#include "perceptual_hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>

namespace bitpool::bench {
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

bool Bit(const std::vector<uint8_t>& hash, int across, int down) {
  const int i = (across - 1) + 8 * (down - 1);
  return (hash[static_cast<size_t>(i / 8)] >> (i % 8) & 1) != 0;
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
  int set = 0;
  for (const uint8_t byte : PerceptualHash(picture)) set += std::popcount(byte);
  EXPECT_EQ(set, 32);
}

}  // namespace
}  // namespace bitpool::bench
