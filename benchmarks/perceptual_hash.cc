#include "perceptual_hash.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "bitpool/base/matrix.h"
#include "bitpool/features/grey_picture.h"
#include "bitpool/features/plain_borders.h"

namespace bitpool::bench {
namespace {

constexpr Index kPixels = 32, kFrequencies = 8;

// Frequencies 1 to 8 of a line of pixels.
MatrixF CosineTransform() {
  return MatrixF::NullaryExpr(kFrequencies, kPixels, [](Index frequency, Index pixel) {
    const double turns = static_cast<double>((frequency + 1) * (2 * pixel + 1)) / (4 * kPixels);
    return static_cast<float>(std::cos(2 * std::numbers::pi * turns));
  });
}

}  // namespace

std::vector<uint8_t> PerceptualHash(const Picture& picture) {
  static const MatrixF kTransform = CosineTransform();
  const GreyPicture grey = ScaleGrey(GreyOf(picture), kPixels, kPixels);
  const Eigen::Map<const MatrixF> pixels(grey.pixels.data(), kPixels, kPixels);
  const MatrixF coefficients = kTransform * pixels * kTransform.transpose();
  std::vector<float> sorted(coefficients.data(), coefficients.data() + coefficients.size());
  std::ranges::sort(sorted);
  const float median = (sorted[sorted.size() / 2 - 1] + sorted[sorted.size() / 2]) / 2;
  std::vector<uint8_t> hash(sorted.size() / 8);
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (coefficients.data()[i] > median) hash[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
  }
  return hash;
}

}  // namespace bitpool::bench
