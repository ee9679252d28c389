#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/image/picture.h"
#include "bitpool/image/thumbnail.h"

// Pictures for the tests of this room, made by the test itself.
namespace bitpool::testing {

// Blurred spots of random sizes, places and colours on grey: something for every detector to find.
inline Picture SpottedPicture(Index width, Index height, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(3 * width * height), 128);
  for (int spot = 0; spot < 60; ++spot) {
    const double x = random.Uniform() * static_cast<double>(width);
    const double y = random.Uniform() * static_cast<double>(height);
    const double across = 2 + 8 * random.Uniform(), down = 2 + 8 * random.Uniform();
    const double colours[3] = {200 * random.Normal(), 200 * random.Normal(), 200 * random.Normal()};
    for (Index row = 0; row < height; ++row) {
      for (Index column = 0; column < width; ++column) {
        const double dx = (static_cast<double>(column) - x) / across;
        const double dy = (static_cast<double>(row) - y) / down;
        if (dx * dx + dy * dy > 16) continue;
        const double weight = std::exp(-(dx * dx + dy * dy) / 2);
        for (size_t channel = 0; channel < 3; ++channel) {
          values[3 * static_cast<size_t>(row * width + column) + channel] +=
              static_cast<float>(weight * colours[channel]);
        }
      }
    }
  }
  Picture picture{.width = width, .height = height, .pixels = {}};
  for (const float value : values) {
    picture.pixels.push_back(static_cast<uint8_t>(std::clamp(value, 0.0F, 255.0F)));
  }
  return picture;
}

inline Picture UniformPicture(Index width, Index height) {
  return {.width = width,
          .height = height,
          .pixels = std::vector<uint8_t>(static_cast<size_t>(3 * width * height), 90)};
}

inline std::vector<std::byte> SpottedJpeg(uint64_t seed, Index width = 160, Index height = 120) {
  return EncodeJpeg(SpottedPicture(width, height, seed), 90);
}

inline void WriteBytes(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

inline void WriteText(const std::filesystem::path& path, const std::string& text) {
  WriteBytes(path, std::as_bytes(std::span(text)));
}

}  // namespace bitpool::testing
