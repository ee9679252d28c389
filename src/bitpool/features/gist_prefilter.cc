#include "bitpool/features/gist_prefilter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bitpool/features/mirrored_pixel.h"

namespace bitpool {
namespace {

// Constants of the authors' prefilter: mirrored pixels on every side, and the contrast below which
// the local normalisation fades out.
constexpr Index kPrefilterPadding = 5;
constexpr float kContrastFloor = 0.2F;

// The side of the square, of even length, that the padded picture is continued to.
Index PaddedSize(Index width, Index height) {
  const Index longest = std::max(width, height) + 2 * kPrefilterPadding;
  return longest + longest % 2;
}

// The pixel of a line of the picture at every position of the square: mirrored by the padding,
// then the padded line mirrored at its end up to the side of the square.
std::vector<Index> PixelsOf(Index line, Index size) {
  std::vector<Index> pixels(static_cast<size_t>(size));
  for (Index i = 0; i < size; ++i) {
    const Index in_padded = MirroredPixel(i, line + 2 * kPrefilterPadding);
    pixels[static_cast<size_t>(i)] = MirroredPixel(in_padded - kPrefilterPadding, line);
  }
  return pixels;
}

// Circular convolution of a line with the Gaussian whose transfer is ½ at the cutoff. In two
// dimensions the Gaussian is the product of two such lines.
MatrixF GaussianLowPass(double cutoff, Index size) {
  VectorD kernel = VectorD::Zero(size);
  for (Index frequency = -size / 2; frequency < size / 2; ++frequency) {
    const double cycles = static_cast<double>(frequency);
    const double transfer = std::exp2(-std::pow(cycles / cutoff, 2));
    for (Index i = 0; i < size; ++i) {
      const double turns = cycles * static_cast<double>(i) / static_cast<double>(size);
      kernel[i] += transfer * std::cos(2 * std::numbers::pi * turns) / static_cast<double>(size);
    }
  }
  return MatrixF::NullaryExpr(
      size, size, [&](Index i, Index j) { return static_cast<float>(kernel[std::abs(i - j)]); });
}

}  // namespace

GistPrefilter::GistPrefilter(double cutoff, Index width, Index height) {
  const Index size = PaddedSize(width, height);
  across_ = PixelsOf(width, size);
  down_ = PixelsOf(height, size);
  smooth_ = GaussianLowPass(cutoff, size);
}

void GistPrefilter::Apply(MatrixF& picture, Workspace& work) const {
  const Index width = picture.rows();
  const Index height = picture.cols();
  picture = (picture.array() + 1).log();
  work.padded = picture(across_, down_);
  work.product.noalias() = smooth_ * work.padded;
  work.smoothed.noalias() = work.product * smooth_;
  work.padded -= work.smoothed;
  picture = work.padded.block(kPrefilterPadding, kPrefilterPadding, width, height);
  work.padded = work.padded.cwiseAbs2();
  work.product.noalias() = smooth_ * work.padded;
  work.smoothed.noalias() = work.product * smooth_;
  // The energy is not negative but for rounding.
  picture.array() /=
      kContrastFloor +
      work.smoothed.block(kPrefilterPadding, kPrefilterPadding, width, height).array().abs().sqrt();
}

}  // namespace bitpool
