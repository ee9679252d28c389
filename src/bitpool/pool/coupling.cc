#include "bitpool/pool/coupling.h"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/linalg/symmetric_eigen.h"

namespace bitpool {
namespace {

void CheckDimension(Index dimension) {
  if (dimension >= 1) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("dimension: expected 1 or more, got {}", dimension));
}

void CheckMap(const char* name, const LinearMap& map) {
  if (map.weights.rows() != map.bias.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} rows of weights and {} values of bias", name,
                            map.weights.rows(), map.bias.size()));
  }
  if (map.weights.allFinite() && map.bias.allFinite()) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: expected finite weights and bias", name));
}

void CheckMaps(const LinearMap& encoder, const LinearMap& decoder, double scale) {
  CheckMap("encoder", encoder);
  CheckMap("decoder", decoder);
  CheckDimension(encoder.weights.cols());
  if (decoder.weights.cols() != encoder.weights.rows()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("decoder: expected {} inputs, as many as the encoder has bits, got {}",
                            encoder.weights.rows(), decoder.weights.cols()));
  }
  if (!(scale > 0) || !std::isfinite(scale)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("scale: expected a positive number, got {}", scale));
  }
}

// W₂c₁ + c₂
VectorD Constant(const LinearMap& encoder, const LinearMap& decoder) {
  return decoder.weights.cast<double>() * encoder.bias.cast<double>() + decoder.bias.cast<double>();
}

}  // namespace

Coupling::Coupling(double identity, const MatrixD& columns, const MatrixD& core, LinearMap term)
    : identity_(identity), basis_(columns.rows(), 0), term_(std::move(term)) {
  const Index rank = std::min(columns.rows(), columns.cols());
  if (rank == 0) return;
  // With columns = QR the eigenvectors of R core Rᵀ, turned by Q, are those of the whole.
  const Eigen::HouseholderQR<MatrixD> qr(columns);
  const MatrixD r = qr.matrixQR().topRows(rank).triangularView<Eigen::Upper>();
  SymmetricEigen eigen = ComputeSymmetricEigen(r * core * r.transpose(), rank);
  MatrixD vectors = MatrixD::Zero(columns.rows(), rank);
  vectors.topRows(rank) = eigen.vectors;
  basis_ = qr.householderQ() * vectors;
  // A is a product of a matrix with itself: anything below zero is rounding.
  eigenvalues_ = eigen.values.cwiseMax(-identity);
}

Coupling Coupling::None(Index dimension) {
  CheckDimension(dimension);
  return {0,
          MatrixD(dimension, 0),
          MatrixD(0, 0),
          {.weights = MatrixF(dimension, 0), .bias = VectorF::Zero(dimension)}};
}

Coupling Coupling::Autoencoder(const LinearMap& encoder, const LinearMap& decoder, double scale) {
  CheckMaps(encoder, decoder, scale);
  const Index bits = encoder.weights.rows();
  const Index dimension = encoder.weights.cols();
  if (decoder.weights.rows() != dimension) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("decoder: expected {} outputs, the dimension of the encoder, got {}",
                            dimension, decoder.weights.rows()));
  }
  const MatrixD w1 = encoder.weights.cast<double>();
  const MatrixD w2 = decoder.weights.cast<double>();
  // MᵀM = I − W₂W₁ − W₁ᵀW₂ᵀ + W₁ᵀ(W₂ᵀW₂)W₁ = I + U S Uᵀ with U = [W₁ᵀ W₂], S = [[W₂ᵀW₂, −I], [−I,
  // 0]]
  MatrixD columns(dimension, 2 * bits);
  columns << w1.transpose(), w2;
  MatrixD core = MatrixD::Zero(2 * bits, 2 * bits);
  core.topLeftCorner(bits, bits) = w2.transpose() * w2;
  core.topRightCorner(bits, bits).diagonal().setConstant(-1);
  core.bottomLeftCorner(bits, bits).diagonal().setConstant(-1);
  const VectorD constant = Constant(encoder, decoder);
  const VectorD term = scale * (constant - w1.transpose() * (w2.transpose() * constant));
  return {scale * scale,
          columns,
          scale * scale * core,
          {.weights = MatrixF(dimension, 0), .bias = term.cast<float>()}};
}

Coupling Coupling::Autoencoder(const LinearMap& encoder, const LinearMap& decoder,
                               const MatrixF& metric) {
  if (metric.size() == 0) return Autoencoder(encoder, decoder);
  CheckMaps(encoder, decoder, 1);
  const Index dimension = encoder.weights.cols();
  if (decoder.weights.rows() != dimension || metric.rows() != dimension ||
      metric.cols() != dimension) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("metric: expected {0} × {0}, as the encoder and the decoder have "
                            "dimensions, got {1} × {2} and a decoder of {3}",
                            dimension, metric.rows(), metric.cols(), decoder.weights.rows()));
  }
  const MatrixD factor = metric.cast<double>();
  const MatrixD back = factor * decoder.weights.cast<double>();
  const MatrixD measured = factor - back * encoder.weights.cast<double>();  // F M
  const VectorD term = measured.transpose() * (factor * Constant(encoder, decoder));
  return {0,
          MatrixD::Identity(dimension, dimension),
          measured.transpose() * measured,
          {.weights = MatrixF(dimension, 0), .bias = term.cast<float>()}};
}

Coupling Coupling::Labels(const LinearMap& encoder, const LinearMap& decoder, double scale) {
  CheckMaps(encoder, decoder, scale);
  const MatrixD w1 = encoder.weights.cast<double>();
  const MatrixD w2 = decoder.weights.cast<double>();
  const MatrixD back = scale * w1.transpose() * w2.transpose();
  const VectorD term = -back * Constant(encoder, decoder);
  return {0,
          w1.transpose(),
          scale * scale * (w2.transpose() * w2),
          {.weights = back.cast<float>(), .bias = term.cast<float>()}};
}

VectorD Coupling::Apply(const VectorD& in) const {
  const VectorD coordinates = basis_.transpose() * in;
  return identity_ * in + basis_ * coordinates.cwiseProduct(eigenvalues_);
}

MatrixD Coupling::DenseMatrix() const {
  MatrixD dense = basis_ * eigenvalues_.asDiagonal() * basis_.transpose();
  dense.diagonal().array() += identity_;
  return dense;
}

VectorF Coupling::RightHandSide(std::span<const float> label) const {
  if (static_cast<Index>(label.size()) != label_size()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("label of the image: expected {} values, got {}", label_size(), label.size()));
  }
  if (label.empty()) return term_.bias;
  const Eigen::Map<const VectorF> values(label.data(), label_size());
  return term_.weights * values + term_.bias;
}

}  // namespace bitpool
