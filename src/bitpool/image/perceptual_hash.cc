#include "bitpool/image/perceptual_hash.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "bitpool/base/matrix.h"
#include "bitpool/image/grey_image.h"

namespace bitpool {
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

uint64_t PerceptualHash(const Picture& picture) {
  static const MatrixF kTransform = CosineTransform();
  const GreyImage grey = Resize(ToGreyImage(picture), kPixels, kPixels);
  const Eigen::Map<const MatrixF> pixels(grey.values.data(), kPixels, kPixels);
  const MatrixF coefficients = kTransform * pixels * kTransform.transpose();
  std::array<float, 64> sorted;
  std::ranges::copy_n(coefficients.data(), sorted.size(), sorted.begin());
  std::ranges::sort(sorted);
  const float median = (sorted[31] + sorted[32]) / 2;
  uint64_t hash = 0;
  for (Index i = 0; i < coefficients.size(); ++i) {
    if (coefficients.data()[i] > median) hash |= uint64_t{1} << i;
  }
  return hash;
}

int HashDistance(uint64_t a, uint64_t b) { return std::popcount(a ^ b); }

}  // namespace bitpool
