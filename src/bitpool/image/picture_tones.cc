#include "bitpool/image/picture_tones.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bitpool {
namespace {

uint8_t ToByte(double value) { return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

double MeanOf(const Picture& picture) {
  const uint64_t sum = std::accumulate(picture.pixels.begin(), picture.pixels.end(), uint64_t{0});
  return static_cast<double>(sum) / static_cast<double>(picture.pixels.size());
}

// The means along one direction; pixels at the ends are repeated outwards.
void BlurLine(const uint8_t* from, uint8_t* to, Index length, Index stride, Index radius) {
  const auto at = [&](Index i) -> uint32_t {
    return from[stride * std::clamp<Index>(i, 0, length - 1)];
  };
  const auto width = static_cast<uint32_t>(2 * radius + 1);
  uint32_t sum = 0;
  for (Index i = -radius; i <= radius; ++i) sum += at(i);
  for (Index i = 0; i < length; ++i) {
    to[stride * i] = static_cast<uint8_t>((sum + width / 2) / width);
    sum += at(i + radius + 1) - at(i - radius);
  }
}

}  // namespace

void ChangeLight(Picture& picture, const Light& light) {
  const double mean = MeanOf(picture);
  std::array<std::array<uint8_t, 256>, 3> table;
  for (size_t channel = 0; channel < 3; ++channel) {
    for (size_t value = 0; value < 256; ++value) {
      const double contrasted = (static_cast<double>(value) - mean) * light.contrast + mean;
      table[channel][value] = ToByte(contrasted * light.brightness * light.channels[channel]);
    }
  }
  for (size_t i = 0; i < picture.pixels.size(); ++i) {
    picture.pixels[i] = table[i % 3][picture.pixels[i]];
  }
}

void MakeGrey(Picture& picture) {
  for (size_t i = 0; i < picture.pixels.size(); i += 3) {
    uint8_t* pixel = picture.pixels.data() + i;
    // The weights of ITU-R BT.601, in thousandths.
    const auto grey =
        static_cast<uint8_t>((299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2] + 500) / 1000);
    std::fill(pixel, pixel + 3, grey);
  }
}

void Blur(Picture& picture, Index radius) {
  if (radius < 1) return;
  std::vector<uint8_t> other(picture.pixels.size());
  for (int round = 0; round < 2; ++round) {
    for (Index row = 0; row < picture.height; ++row) {
      for (Index channel = 0; channel < 3; ++channel) {
        const Index first = 3 * row * picture.width + channel;
        BlurLine(picture.pixels.data() + first, other.data() + first, picture.width, 3, radius);
      }
    }
    for (Index first = 0; first < 3 * picture.width; ++first) {
      BlurLine(other.data() + first, picture.pixels.data() + first, picture.height,
               3 * picture.width, radius);
    }
  }
}

void Sharpen(Picture& picture, double amount) {
  Picture blurred = picture;
  Blur(blurred, 1);
  for (size_t i = 0; i < picture.pixels.size(); ++i) {
    const double value = picture.pixels[i];
    picture.pixels[i] = ToByte(value + amount * (value - blurred.pixels[i]));
  }
}

void AddNoise(Picture& picture, double deviation, Random& random) {
  // The sum of four uniform bytes has about the shape of a Gaussian; its variance is 4 × 65535/12.
  constexpr double kMean = 510, kDeviation = 147.8;
  for (size_t i = 0; i < picture.pixels.size(); i += 2) {
    uint64_t bits = random.Next();
    for (size_t j = i; j < std::min(i + 2, picture.pixels.size()); ++j, bits >>= 32) {
      const uint64_t sum =
          (bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24 & 255);
      const double normal = (static_cast<double>(sum) - kMean) / kDeviation;
      picture.pixels[j] = ToByte(picture.pixels[j] + deviation * normal);
    }
  }
}

}  // namespace bitpool
