#include "bitpool/hash/view_whitening.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/hash/mapped_encoder.h"
#include "bitpool/hash/two_layer_encoder.h"
#include "bitpool/hash/view_batches.h"
#include "bitpool/hash/view_sums.h"

namespace bitpool {
namespace {

// The variance within groups against that of all images below which it is rounding.
constexpr double kNothing = 1e-5;

// Columns of an inverse that are found at once.
constexpr Index kInverseColumns = 64;

// The inverse of a lower triangle is one too, so the rows above a column need no work: a third of
// that of solving for the whole identity.
MatrixD InverseOfLower(const MatrixD& lower) {
  const Index size = lower.rows();
  MatrixD inverse = MatrixD::Zero(size, size);
  for (Index col = 0; col < size; col += kInverseColumns) {
    const Index rows = size - col, cols = std::min(kInverseColumns, rows);
    auto part = inverse.block(col, col, rows, cols);
    part.diagonal().setOnes();
    lower.bottomRightCorner(rows, rows).triangularView<Eigen::Lower>().solveInPlace(part);
  }
  return inverse;
}

}  // namespace

void WhiteningOptions::Validate() const {
  if (!(epsilon > 0) || !std::isfinite(epsilon)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("epsilon of the whitening: expected above 0, got {}", epsilon));
  }
}

bool VariesWithin(const MatrixD& within, double total) { return within.trace() > kNothing * total; }

ViewWhitening WhitenBy(const WhiteningOptions& options, MatrixD within, const VectorD& mean) {
  options.Validate();
  within.diagonal().array() +=
      options.epsilon * within.trace() / static_cast<double>(within.rows());
  const Eigen::LLT<Eigen::Ref<MatrixD>> factor(within);  // in place, of the lower triangle
  if (factor.info() != Eigen::Success) {
    throw Error(ErrorCode::kInvalidArgument,
                "what whitening is learned from cannot be told from rounding: choose a larger "
                "epsilon");
  }
  const MatrixD lower = factor.matrixL();
  const MatrixD inverse = InverseOfLower(lower);
  return {.forward = {.weights = inverse.cast<float>(), .bias = (-(inverse * mean)).cast<float>()},
          .back = {.weights = lower.cast<float>(), .bias = mean.cast<float>()}};
}

ViewWhitening FindWhitening(const WhiteningOptions& options, const Sums& sums, Index per_picture) {
  options.Validate();
  const double pictures = sums.number("pictures"), each = static_cast<double>(per_picture);
  RequireViews(static_cast<Index>(pictures) * per_picture, per_picture);
  const VectorD mean = sums["means"] / pictures;
  const double between = sums.number("squares") / pictures - mean.squaredNorm();
  MatrixD within = sums["within"] / (pictures * each);
  if (!std::isfinite(within.trace())) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "the views differ by so much that products do not fit into single precision; divide "
        "the vectors by their largest value first");
  }
  if (!VariesWithin(within, within.trace() + std::max(0.0, between))) {
    throw Error(ErrorCode::kInvalidArgument,
                "the views of no picture differ from it: there is nothing to learn from them");
  }
  return WhitenBy(options, std::move(within), mean);
}

ViewWhitening LearnWhitening(const WhiteningOptions& options, const ViewVectors& images,
                             const RunContext& context) {
  options.Validate();
  RequireViews(images.vectors.size(), images.per_picture);
  return FindWhitening(options, SumViews(images, context), images.per_picture);
}

HashModel FoldWhitening(const ViewWhitening& whitening, HashModel model) {
  if (const auto* linear = dynamic_cast<const LinearEncoder*>(model.encoder.get())) {
    model.encoder = std::make_shared<LinearEncoder>(Compose(whitening.forward, linear->map()));
  } else if (const auto* layers = dynamic_cast<const TwoLayerEncoder*>(model.encoder.get())) {
    TwoLayerMap map = layers->map();
    map.linear = Compose(whitening.forward, map.linear);
    map.hidden = Compose(whitening.forward, map.hidden);
    model.encoder = std::make_shared<TwoLayerEncoder>(std::move(map));
  } else {
    model.encoder = std::make_shared<MappedEncoder>(whitening.forward, model.encoder);
  }
  model.decoder = Compose(model.decoder, whitening.back);
  return model;
}

}  // namespace bitpool
