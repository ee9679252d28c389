#include "bitpool/features/gist_filters.h"

#include <cmath>
#include <numbers>

#include "bitpool/features/mirrored_pixel.h"

namespace bitpool {
namespace {

constexpr double kTau = 2 * std::numbers::pi;

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

// The coefficients of the real and of the imaginary part of the filter's response. An even factor
// leaves cosines and sines what they are; an odd one turns cos into i·sin and sin into −i·cos.
void Multiply(const FilterParts& filter, GistFilters::Workspace& work) {
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

// `parts`: even and odd part of the real, then of the imaginary part.
void LineMagnitude(const VectorFRef& parts, Eigen::Ref<VectorF> line) {
  const Index half = parts.size() / 4;
  const auto part = [&](Index i) { return parts.segment(i * half, half).array(); };
  line.head(half) = ((part(0) + part(1)).square() + (part(2) + part(3)).square()).sqrt();
  line.tail(half) = ((part(0) - part(1)).square() + (part(2) - part(3)).square()).sqrt().reverse();
}

}  // namespace

FourierAxis::FourierAxis(Index pixels, Index extension)
    : length(pixels + 2 * extension), frequencies(length / 2 + 1) {
  const MatrixD basis = CentredFourierBasis(length);
  // The basis is orthogonal. An extended pixel counts for the one it mirrors.
  const VectorD energies = basis.colwise().squaredNorm().cwiseMax(1.0);
  MatrixD coefficients = MatrixD::Zero(2 * frequencies, pixels);
  for (Index i = 0; i < length; ++i) {
    coefficients.col(MirroredPixel(i - extension, pixels)) +=
        basis.row(i).transpose().cwiseQuotient(energies);
  }
  analysis = coefficients.cast<float>();
  const Index half = (pixels + 1) / 2;
  cosines = basis.block(extension, 0, half, frequencies).cast<float>();
  sines = basis.block(extension, frequencies, half, frequencies).cast<float>();
}

GistFilters::GistFilters(const GistOptions& options, Index width, Index height)
    : across_(width, options.boundary_extension),
      down_(height, options.boundary_extension),
      means_across_(BlockMeans(width, options.blocks)),
      means_down_(BlockMeans(height, options.blocks)) {
  for (const GaborFilter& filter : MakeFilters(options.orientations_per_scale)) {
    filters_.push_back(SplitByParity(filter, across_, down_));
  }
}

void GistFilters::Describe(const MatrixF& picture, Workspace& work,
                           Eigen::Ref<VectorF> descriptor) const {
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

void GistFilters::Transform(const MatrixF& picture, Workspace& work) const {
  work.product.noalias() = across_.analysis * picture;
  work.spectrum.noalias() = work.product * down_.analysis.transpose();
}

void GistFilters::TransformBack(Workspace& work) const {
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
void GistFilters::Magnitude(Workspace& work) const {
  work.sum = work.even + work.odd;
  work.difference = work.even - work.odd;
  const Index height = means_down_.cols();
  work.magnitude.resize(means_across_.cols(), height);
  for (Index y = 0; y < work.even.cols(); ++y) {
    LineMagnitude(work.sum.col(y), work.magnitude.col(y));
    LineMagnitude(work.difference.col(y), work.magnitude.col(height - 1 - y));
  }
}

}  // namespace bitpool
