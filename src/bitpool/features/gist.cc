#include "bitpool/features/gist.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bitpool/base/error.h"

// Inside this file a picture is the matrix of its pixels (x, y): row-major pixels are its columns.

namespace bitpool {
namespace {

constexpr double kTau = 2 * std::numbers::pi;

// Constants of the authors' prefilter: mirrored pixels on every side, and the contrast below which
// the local normalisation fades out.
constexpr Index kPrefilterPadding = 5;
constexpr float kContrastFloor = 0.2F;

// Constants of the authors' filters: the centre of the finest scale in cycles per pixel, the ratio
// of one scale to the next, the sharpness in radius, and the orientations at which the sharpness in
// angle is 2π.
constexpr double kFinestFrequency = 0.3;
constexpr double kScaleRatio = 1.85;
constexpr double kRadialSharpness = 3.5;
constexpr double kReferenceOrientations = 8;

// Transfer below this is taken as none: it is far under the rounding of the sums, and the denormal
// numbers it would lead to are slow.
constexpr double kLeastTransfer = 1e-12;

// Limits of what makes sense; the memory of a filter grows with the square of the side.
constexpr Index kLargestSide = 1024;
constexpr Index kMostExtension = 256;
constexpr Index kMostScales = 16;
constexpr Index kMostOrientations = 64;  // of one scale

// Pictures described at once by a thread.
constexpr size_t kChunkPictures = 64;

// The pixel of a line of `size` that is found at `position` when the line is continued by its
// mirror image on both sides, without end (position may be negative).
Index Mirrored(Index position, Index size) {
  const Index period = 2 * size;
  const Index inside = ((position % period) + period) % period;
  return inside < size ? inside : period - 1 - inside;
}

void RequireFinite(const MatrixFRef& pictures, Index first) {
  for (Index i = 0; i < pictures.cols(); ++i) {
    if (pictures.col(i).allFinite()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("picture {}: a pixel is not a finite number", first + i));
  }
}

// Whitening and local contrast normalisation (`prefilt` of the authors).
class Prefilter {
 public:
  Prefilter(double cutoff, Index width, Index height)
      : size_(PaddedSize(width, height)),
        across_(PixelsOf(width)),
        down_(PixelsOf(height)),
        smooth_(GaussianLowPass(cutoff)) {}

  // Buffers for Apply.
  struct Workspace {
    MatrixF padded, product, smoothed;
  };

  // Replaces the picture by what the filters are applied to.
  void Apply(MatrixF& picture, Workspace& work) const {
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
        kContrastFloor + work.smoothed.block(kPrefilterPadding, kPrefilterPadding, width, height)
                             .array()
                             .abs()
                             .sqrt();
  }

 private:
  // The side of the square, of even length, that the padded picture is continued to.
  static Index PaddedSize(Index width, Index height) {
    const Index longest = std::max(width, height) + 2 * kPrefilterPadding;
    return longest + longest % 2;
  }

  // The pixel of a line of the picture at every position of the square: mirrored by the padding,
  // then the padded line mirrored at its end up to the side of the square.
  std::vector<Index> PixelsOf(Index line) const {
    std::vector<Index> pixels(static_cast<size_t>(size_));
    for (Index i = 0; i < size_; ++i) {
      const Index in_padded = Mirrored(i, line + 2 * kPrefilterPadding);
      pixels[static_cast<size_t>(i)] = Mirrored(in_padded - kPrefilterPadding, line);
    }
    return pixels;
  }

  // Circular convolution of a line with the Gaussian whose transfer is ½ at the cutoff. In two
  // dimensions the Gaussian is the product of two such lines.
  MatrixF GaussianLowPass(double cutoff) const {
    VectorD kernel = VectorD::Zero(size_);
    for (Index frequency = -size_ / 2; frequency < size_ / 2; ++frequency) {
      const double cycles = static_cast<double>(frequency);
      const double transfer = std::exp2(-std::pow(cycles / cutoff, 2));
      for (Index i = 0; i < size_; ++i) {
        const double turns = cycles * static_cast<double>(i) / static_cast<double>(size_);
        kernel[i] += transfer * std::cos(kTau * turns) / static_cast<double>(size_);
      }
    }
    return MatrixF::NullaryExpr(size_, size_, [&](Index i, Index j) {
      return static_cast<float>(kernel[std::abs(i - j)]);
    });
  }

  Index size_;
  std::vector<Index> across_;
  std::vector<Index> down_;
  MatrixF smooth_;  // symmetric
};

// cos(2πkt/N), then sin(2πkt/N), one per column, for k = 0 … N/2, with t counted from the middle of
// the N points. The sine of k = 0 and, for an even N, the cosine of k = N/2 are zero.
MatrixD CentredFourierBasis(Index length) {
  const Index frequencies = length / 2 + 1;
  MatrixD basis(length, 2 * frequencies);
  for (Index k = 0; k < frequencies; ++k) {
    for (Index i = 0; i < length; ++i) {
      // 2t is a whole number, whatever the length.
      const Index twice = 2 * i - (length - 1);
      const double angle = std::numbers::pi * static_cast<double>(k * twice % (2 * length)) /
                           static_cast<double>(length);
      basis(i, k) = 2 * k == length ? 0 : std::cos(angle);
      basis(i, frequencies + k) = std::sin(angle);
    }
  }
  return basis;
}

// The Fourier transform along one side of the extended picture, with real coefficients, which are
// half the work of complex ones. The basis is centred on the picture: cosines are even and sines
// odd about its middle, so the way back needs only the first half of the pixels, another half
// saved.
struct FourierAxis {
  FourierAxis(Index pixels, Index extension)
      : length(pixels + 2 * extension), frequencies(length / 2 + 1) {
    const MatrixD basis = CentredFourierBasis(length);
    // The basis is orthogonal. An extended pixel counts for the one it mirrors.
    const VectorD energies = basis.colwise().squaredNorm().cwiseMax(1.0);
    MatrixD coefficients = MatrixD::Zero(2 * frequencies, pixels);
    for (Index i = 0; i < length; ++i) {
      coefficients.col(Mirrored(i - extension, pixels)) +=
          basis.row(i).transpose().cwiseQuotient(energies);
    }
    analysis = coefficients.cast<float>();
    const Index half = (pixels + 1) / 2;
    cosines = basis.block(extension, 0, half, frequencies).cast<float>();
    sines = basis.block(extension, frequencies, half, frequencies).cast<float>();
  }

  Index length;       // N: pixels with the extension
  Index frequencies;  // N/2 + 1
  MatrixF analysis;   // pixels to coefficients: cosines, then sines
  MatrixF cosines;    // coefficients to the even part at the first half of the pixels
  MatrixF sines;      // the same for the odd part
};

// The transfer function of a filter, which is real, split into parts that are even or odd in the
// frequency across and down, for frequencies that are not negative.
struct FilterParts {
  MatrixF even_even, even_odd, odd_even, odd_odd;
};

// A Gabor filter in polar coordinates of the frequency plane (`createGabor` of the authors, who
// count cycles per picture; per pixel is the same for square pictures and right for others).
struct GaborFilter {
  double centre;       // cycles per pixel
  double sharpness;    // in angle
  double orientation;  // the filter passes waves of the direction −orientation

  double Transfer(double across, double down) const {
    const double radius = std::hypot(across, down) / centre - 1;
    const double angle = std::remainder(std::atan2(down, across) + orientation, kTau);
    const double transfer =
        std::exp(-kRadialSharpness * radius * radius - sharpness * angle * angle);
    return transfer < kLeastTransfer ? 0 : transfer;
  }
};

// The frequency number ±k in cycles per pixel. The highest one of an even length is its own
// negative and counts as negative, as in the authors' grid −N/2 … N/2 − 1.
double Frequency(const FourierAxis& axis, Index k, bool negative) {
  const bool highest = 2 * k == axis.length;
  return static_cast<double>(negative || highest ? -k : k) / static_cast<double>(axis.length);
}

FilterParts SplitByParity(const GaborFilter& filter, const FourierAxis& across,
                          const FourierAxis& down) {
  const auto part = [&](double sign_across, double sign_down) {
    return MatrixF::NullaryExpr(
        across.frequencies, down.frequencies, [=, &filter, &across, &down](Index k, Index l) {
          const auto transfer = [&](bool negative_across, bool negative_down) {
            return filter.Transfer(Frequency(across, k, negative_across),
                                   Frequency(down, l, negative_down));
          };
          return static_cast<float>((transfer(false, false) + sign_down * transfer(false, true) +
                                     sign_across * transfer(true, false) +
                                     sign_across * sign_down * transfer(true, true)) /
                                    4);
        });
  };
  return {part(1, 1), part(1, -1), part(-1, 1), part(-1, -1)};
}

std::vector<GaborFilter> MakeFilters(const std::vector<int>& orientations_per_scale) {
  std::vector<GaborFilter> filters;
  double centre = kFinestFrequency;
  for (const int orientations : orientations_per_scale) {
    const double relative = orientations / kReferenceOrientations;
    for (int i = 0; i < orientations; ++i) {
      filters.push_back({.centre = centre,
                         .sharpness = kTau * relative * relative,
                         .orientation = std::numbers::pi * i / orientations});
    }
    centre /= kScaleRatio;
  }
  return filters;
}

// The means over the blocks of a line of pixels, as a matrix.
MatrixF BlockMeans(Index pixels, Index blocks) {
  MatrixF means = MatrixF::Zero(blocks, pixels);
  for (Index block = 0; block < blocks; ++block) {
    const Index begin = block * pixels / blocks;
    const Index size = (block + 1) * pixels / blocks - begin;
    means.row(block).segment(begin, size).setConstant(1 / static_cast<float>(size));
  }
  return means;
}

// A quarter of a matrix of coefficients: cosines or sines across, cosines or sines down.
template <class Matrix>
auto Quarter(Matrix& matrix, Index across, Index down) {
  const Index rows = matrix.rows() / 2;
  const Index cols = matrix.cols() / 2;
  return matrix.block(across * rows, down * cols, rows, cols);
}

// Gabor filters and the average of the magnitude of their responses (`gistGabor` of the authors).
class FilterBank {
 public:
  FilterBank(const GistOptions& options, Index width, Index height)
      : across_(width, options.boundary_extension),
        down_(height, options.boundary_extension),
        means_across_(BlockMeans(width, options.blocks)),
        means_down_(BlockMeans(height, options.blocks)) {
    for (const GaborFilter& filter : MakeFilters(options.orientations_per_scale)) {
      filters_.push_back(SplitByParity(filter, across_, down_));
    }
  }

  // Buffers for Describe. All that is summed lies in matrices of its own: the order of Eigen's sums
  // can depend on where the numbers begin in memory.
  struct Workspace {
    MatrixF product;
    MatrixF spectrum;   // coefficients across × coefficients down
    MatrixF response;   // coefficients across × (real, imaginary) × coefficients down
    MatrixF halves;     // (even, odd) pixels across × (real, imaginary) × coefficients down
    MatrixF even, odd;  // (even, odd) pixels across × (real, imaginary) × pixels down
    MatrixF sum, difference;
    MatrixF magnitude;
    MatrixF means;
  };

  Index dimension() const {
    return static_cast<Index>(filters_.size()) * means_across_.rows() * means_down_.rows();
  }

  void Describe(const MatrixF& picture, Workspace& work, Eigen::Ref<VectorF> descriptor) const {
    Transform(picture, work);
    const Index blocks = means_across_.rows();
    for (size_t i = 0; i < filters_.size(); ++i) {
      Multiply(filters_[i], work);
      TransformBack(work);
      Magnitude(work);
      work.product.noalias() = means_across_ * work.magnitude;
      work.means.noalias() = means_down_ * work.product.transpose();
      descriptor.segment(static_cast<Index>(i) * blocks * blocks, blocks * blocks) =
          work.means.reshaped();
    }
  }

 private:
  void Transform(const MatrixF& picture, Workspace& work) const {
    work.product.noalias() = across_.analysis * picture;
    work.spectrum.noalias() = work.product * down_.analysis.transpose();
  }

  // The coefficients of the real and of the imaginary part of the filter's response. An even factor
  // leaves cosines and sines what they are; an odd one turns cos into i·sin and sin into −i·cos.
  static void Multiply(const FilterParts& filter, Workspace& work) {
    const Index rows = work.spectrum.rows();
    const Index cols = work.spectrum.cols();
    work.response.resize(rows, 2 * cols);
    using Strided = Eigen::Map<MatrixF, 0, Eigen::OuterStride<>>;
    Strided real(work.response.data(), rows, cols, Eigen::OuterStride<>(2 * rows));
    Strided imaginary(work.response.data() + rows, rows, cols, Eigen::OuterStride<>(2 * rows));
    // c: cosines, s: sines; across, then down.
    const auto cc = Quarter(work.spectrum, 0, 0).array();
    const auto cs = Quarter(work.spectrum, 0, 1).array();
    const auto sc = Quarter(work.spectrum, 1, 0).array();
    const auto ss = Quarter(work.spectrum, 1, 1).array();
    const auto ee = filter.even_even.array();
    const auto eo = filter.even_odd.array();
    const auto oe = filter.odd_even.array();
    const auto oo = filter.odd_odd.array();
    Quarter(real, 0, 0) = ee * cc - oo * ss;
    Quarter(real, 0, 1) = ee * cs + oo * sc;
    Quarter(real, 1, 0) = ee * sc + oo * cs;
    Quarter(real, 1, 1) = ee * ss - oo * cc;
    Quarter(imaginary, 0, 0) = -(eo * cs) - oe * sc;
    Quarter(imaginary, 0, 1) = eo * cc - oe * ss;
    Quarter(imaginary, 1, 0) = oe * cc - eo * ss;
    Quarter(imaginary, 1, 1) = oe * cs + eo * sc;
  }

  void TransformBack(Workspace& work) const {
    const Index half = across_.cosines.rows();
    work.halves.resize(2 * half, work.response.cols());
    work.halves.topRows(half).noalias() =
        across_.cosines * work.response.topRows(across_.frequencies);
    work.halves.bottomRows(half).noalias() =
        across_.sines * work.response.bottomRows(across_.frequencies);
    const Eigen::Map<const MatrixF> lines(work.halves.data(), 4 * half, 2 * down_.frequencies);
    work.even.noalias() = lines.leftCols(down_.frequencies) * down_.cosines.transpose();
    work.odd.noalias() = lines.rightCols(down_.frequencies) * down_.sines.transpose();
  }

  // From the even and odd parts to the magnitude at every pixel.
  void Magnitude(Workspace& work) const {
    work.sum = work.even + work.odd;
    work.difference = work.even - work.odd;
    const Index height = means_down_.cols();
    work.magnitude.resize(means_across_.cols(), height);
    for (Index y = 0; y < work.even.cols(); ++y) {
      LineMagnitude(work.sum.col(y), work.magnitude.col(y));
      LineMagnitude(work.difference.col(y), work.magnitude.col(height - 1 - y));
    }
  }

  // `parts`: even and odd part of the real, then of the imaginary part.
  static void LineMagnitude(const VectorFRef& parts, Eigen::Ref<VectorF> line) {
    const Index half = parts.size() / 4;
    const auto part = [&](Index i) { return parts.segment(i * half, half).array(); };
    line.head(half) = ((part(0) + part(1)).square() + (part(2) + part(3)).square()).sqrt();
    line.tail(half) =
        ((part(0) - part(1)).square() + (part(2) - part(3)).square()).sqrt().reverse();
  }

  FourierAxis across_;
  FourierAxis down_;
  MatrixF means_across_;
  MatrixF means_down_;
  std::vector<FilterParts> filters_;
};

// Stretches the values to 0..255, as the authors do before the prefilter. REQUIRES: all are finite
void StretchContrast(const VectorFRef& pixels, MatrixF& picture) {
  const auto lowest = static_cast<double>(pixels.minCoeff());
  const auto range = static_cast<double>(pixels.maxCoeff()) - lowest;
  const double factor = range > 0 ? 255 / range : 0;
  const Eigen::Map<const MatrixF> source(pixels.data(), picture.rows(), picture.cols());
  picture = ((source.cast<double>().array() - lowest) * factor).cast<float>();
}

void RequireSize(const GistExtractor& extractor, const MatrixFRef& pictures) {
  const Index pixels = extractor.width() * extractor.height();
  if (pictures.rows() == pixels) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("pictures of {} pixels; the extractor was made for {} × {} = {}",
                          pictures.rows(), extractor.width(), extractor.height(), pixels));
}

void RequireBetween(const char* name, Index value, Index least, Index most) {
  if (value >= least && value <= most) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: expected {} to {}, got {}", name, least, most, value));
}

}  // namespace

void GistOptions::Validate() const {
  RequireBetween("scales of orientations_per_scale",
                 static_cast<Index>(orientations_per_scale.size()), 1, kMostScales);
  for (const int orientations : orientations_per_scale) {
    RequireBetween("orientations_per_scale", orientations, 1, kMostOrientations);
  }
  RequireBetween("blocks", blocks, 1, kLargestSide);
  RequireBetween("boundary_extension", boundary_extension, 0, kMostExtension);
  if (!(prefilter_cutoff > 0) || !std::isfinite(prefilter_cutoff)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("prefilter_cutoff: expected a number above 0, got {}", prefilter_cutoff));
  }
}

struct GistExtractor::Plan {
  Prefilter prefilter;
  FilterBank bank;
};

GistExtractor::GistExtractor(const GistOptions& options, Index width, Index height)
    : width_(width), height_(height) {
  options.Validate();
  // A block has at least one pixel.
  RequireBetween("width of pictures", width, options.blocks, kLargestSide);
  RequireBetween("height of pictures", height, options.blocks, kLargestSide);
  plan_ = std::make_shared<const Plan>(
      Plan{.prefilter = Prefilter(options.prefilter_cutoff, width, height),
           .bank = FilterBank(options, width, height)});
  dimension_ = plan_->bank.dimension();
}

MatrixF GistExtractor::Extract(const MatrixFRef& pictures) const {
  RequireSize(*this, pictures);
  RequireFinite(pictures, 0);
  MatrixF descriptors(dimension_, pictures.cols());
  MatrixF picture(width_, height_);
  Prefilter::Workspace prefilter_work;
  FilterBank::Workspace bank_work;
  for (Index i = 0; i < pictures.cols(); ++i) {
    StretchContrast(pictures.col(i), picture);
    plan_->prefilter.Apply(picture, prefilter_work);
    plan_->bank.Describe(picture, bank_work, descriptors.col(i));
  }
  return descriptors;
}

MatrixF ExtractAll(const GistExtractor& extractor, const MatrixFRef& pictures,
                   const RunContext& context) {
  RequireSize(extractor, pictures);  // also when there are none
  MatrixF descriptors(extractor.dimension(), pictures.cols());
  const auto count = static_cast<size_t>(pictures.cols());
  Progress progress = context.StartProgress("describing", "pictures", count);
  context.ParallelFor(count, kChunkPictures, [&](size_t begin, size_t end) {
    const auto first = static_cast<Index>(begin);
    const auto size = static_cast<Index>(end - begin);
    const auto chunk = pictures.middleCols(first, size);
    RequireFinite(chunk, first);  // here too, for the number of the picture among all
    descriptors.middleCols(first, size) = extractor.Extract(chunk);
    progress.Advance(end - begin);
  });
  return descriptors;
}

}  // namespace bitpool
