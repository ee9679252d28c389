#include "bitpool/hash/baselines/kernel_bit_search.h"

#include <cmath>
#include <utility>

#include "bitpool/linalg/symmetric_eigen.h"

namespace bitpool {
namespace {

constexpr size_t kBitSearchSamples = 1024;
// Directions in which the features spread by less than this share of the widest are left out: their
// weights would be so large that the encoder, in single precision, could not tell the bit.
constexpr double kNarrowest = 1e-9;
constexpr int kMostDoublings = 50;  // of the curvature in one iteration, as the authors have it
constexpr double kLossTolerance = 1e-2;  // per sample, between iterations; theirs too

VectorD HardSigns(const VectorD& projections) {
  return projections.unaryExpr([](double h) { return h < 0 ? -1.0 : 1.0; });
}

VectorD SmoothSigns(const VectorD& projections) {
  return projections.unaryExpr([](double h) { return std::tanh(h / 2); });
}

// P of K̄K̄ᵀ = UΛUᵀ: UΛ^(−1/2) of the directions that are wide enough.
MatrixD WhiteningOf(const MatrixD& scatter) {
  const SymmetricEigen eigen = ComputeSymmetricEigen(scatter, scatter.rows());
  Index wide = 0;
  while (wide < eigen.values.size() && eigen.values[wide] > kNarrowest * eigen.values[0]) ++wide;
  return eigen.vectors.leftCols(wide) *
         eigen.values.head(wide).cwiseSqrt().cwiseInverse().asDiagonal();
}

// The point at `share` of the way from `from` to `to`, or beyond.
KernelBit Between(const KernelBit& from, const KernelBit& to, double share) {
  return {from.weights + share * (to.weights - from.weights),
          from.projections + share * (to.projections - from.projections)};
}

}  // namespace

LabelResidue::LabelResidue(const PairwiseLabels& labels, int bits)
    : labels_(labels), bits_(bits), codes_(labels.size(), bits) {
  const auto norm = bits_ * static_cast<double>(labels.size());
  squared_norm_ = norm * norm;
}

VectorD LabelResidue::Multiply(const VectorD& v) const {
  const auto codes = codes_.leftCols(found_);
  VectorD product = bits_ * labels_.Multiply(v);
  product.noalias() -= codes * (codes.transpose() * v).eval();
  return product;
}

double LabelResidue::Quadratic(const VectorD& v) const {
  return bits_ * labels_.Quadratic(v) - (codes_.leftCols(found_).transpose() * v).squaredNorm();
}

void LabelResidue::Subtract(const VectorD& signs) {
  const auto size = static_cast<double>(signs.size());
  squared_norm_ += size * size - 2 * Quadratic(signs);
  codes_.col(found_++) = signs;
}

KernelBitSearch::KernelBitSearch(const MatrixD& features, const PairwiseLabels& labels, int bits,
                                 const RunContext& context)
    : features_(features), context_(context), bits_(bits), residue_(labels, bits) {
  whitening_ = WhiteningOf(features * features.transpose());
  const MatrixD white_features = features.transpose() * whitening_;
  MatrixD labelled(white_features.rows(), white_features.cols());
  context_.ParallelFor(static_cast<size_t>(white_features.cols()), 1, [&](size_t column, size_t) {
    const auto i = static_cast<Index>(column);
    labelled.col(i) = residue_.Multiply(white_features.col(i));
  });
  whitened_ = white_features.transpose() * labelled;
}

KernelBit KernelBitSearch::Spectral() const {
  KernelBit bit;
  bit.weights = VectorD::Zero(features_.rows());
  if (whitened_.rows() > 0) {
    const double length = std::sqrt(static_cast<double>(features_.cols()));
    bit.weights = whitening_ * (length * ComputeSymmetricEigen(whitened_, 1).vectors.col(0));
  }
  bit.projections = Project(bit.weights);
  return bit;
}

// Products with K̄ are linear, so those of a point between or beyond two others need not be made:
// an iteration makes two products, however often the curvature is doubled.
KernelBit KernelBitSearch::Smooth(const KernelBit& start, int iterations) const {
  KernelBit before = start, now = start;
  double loss = Loss(start.projections);
  double delta_before = 0, delta = 1, curvature = 1;
  for (int i = 0; i < iterations; ++i) {
    context_.ThrowIfStopped();
    const KernelBit ahead = Between(before, now, 1 + (delta_before - 1) / delta);
    const Slope slope = LossAndGradient(ahead.projections);
    const VectorD change = Project(slope.gradient);
    const double squared_slope = slope.gradient.squaredNorm();
    // The step to the minimum of a parabola of this curvature, which must lie above the loss there.
    KernelBit next;
    double next_loss = 0;
    bool below = false;
    for (int doublings = 0; doublings <= kMostDoublings && !below; ++doublings) {
      if (doublings > 0) curvature *= 2;
      next.projections = ahead.projections - change / curvature;
      next_loss = Loss(next.projections);
      below = next_loss <= slope.loss - squared_slope / (2 * curvature);
    }
    if (!below) break;
    next.weights = ahead.weights - slope.gradient / curvature;
    before = std::exchange(now, std::move(next));
    delta_before = std::exchange(delta, (1 + std::sqrt(1 + 4 * delta * delta)) / 2);
    const double fall = std::exchange(loss, next_loss) - next_loss;
    if (std::abs(fall) <= kLossTolerance * static_cast<double>(features_.cols())) break;
  }
  return now;
}

double KernelBitSearch::Loss(const VectorD& projections) const {
  return -residue_.Quadratic(SmoothSigns(projections));
}

KernelBitSearch::Slope KernelBitSearch::LossAndGradient(const VectorD& projections) const {
  const VectorD y = SmoothSigns(projections);
  const VectorD product = residue_.Multiply(y);
  return {-y.dot(product), -Accumulate(product.cwiseProduct((1 - y.array().square()).matrix()))};
}

double KernelBitSearch::Agreement(const KernelBit& bit) const {
  return residue_.Quadratic(HardSigns(bit.projections));
}

void KernelBitSearch::Take(const KernelBit& bit) {
  const VectorD signs = HardSigns(bit.projections);
  residue_.Subtract(signs);
  const VectorD direction = whitening_.transpose() * Accumulate(signs);
  whitened_.noalias() -= direction * direction.transpose();
}

double KernelBitSearch::Objective() const {
  const double norm = static_cast<double>(bits_) * static_cast<double>(features_.cols());
  return residue_.squared_norm() / (norm * norm);
}

VectorD KernelBitSearch::Project(const VectorD& weights) const {
  VectorD projections(features_.cols());
  context_.ParallelFor(
      static_cast<size_t>(features_.cols()), kBitSearchSamples, [&](size_t begin, size_t end) {
        const auto first = static_cast<Index>(begin), count = static_cast<Index>(end - begin);
        projections.segment(first, count).noalias() =
            features_.middleCols(first, count).transpose() * weights;
      });
  return projections;
}

VectorD KernelBitSearch::Accumulate(const VectorD& samples) const {
  VectorD sum = VectorD::Zero(features_.rows());
  context_.pool().OrderedReduce(
      static_cast<size_t>(features_.cols()), kBitSearchSamples, VectorD(),
      [&](VectorD& part, size_t begin, size_t end) {
        const auto first = static_cast<Index>(begin), count = static_cast<Index>(end - begin);
        part = features_.middleCols(first, count) * samples.segment(first, count);
      },
      [&](const VectorD& part) { sum += part; });
  return sum;
}

}  // namespace bitpool
