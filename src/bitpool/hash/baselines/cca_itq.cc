#include "bitpool/hash/baselines/cca_itq.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/itq.h"
#include "bitpool/hash/label_targets.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/symmetric_eigen.h"

namespace bitpool {
namespace {

// Correlations below this share of the largest are only rounding, and so is the largest one when it
// is below the second number.
constexpr double kLeastShare = 1e-4;
constexpr double kLeastCorrelation = 1e-6;

// The covariance of the indicators of the classes, from counts alone.
MatrixD LabelCovariance(const LabelTargets& targets) {
  const Labels& labels = targets.labels();
  const auto samples = static_cast<double>(labels.size());
  MatrixD pairs = MatrixD::Zero(targets.dimension(), targets.dimension());
  for (Index i = 0; i < labels.size(); ++i) {
    for (const int32_t a : labels.of(i)) {
      for (const int32_t b : labels.of(i)) pairs(a, b) += 1;
    }
  }
  const VectorD shares = pairs.diagonal() / samples;
  return pairs / samples - shares * shares.transpose();
}

// What is added to the variances: the share of their mean, but not less than the rounding of sums
// in single precision.
double RidgeOf(const MatrixD& covariance, double share, Index varying) {
  const double rounding = 4 * std::sqrt(static_cast<double>(covariance.rows())) *
                          static_cast<double>(std::numeric_limits<float>::epsilon()) *
                          covariance.diagonal().maxCoeff();
  return std::max(share * covariance.trace() / static_cast<double>(varying), rounding);
}

Eigen::LLT<MatrixD> FactorRegularised(MatrixD covariance, double ridge) {
  covariance.diagonal().array() += ridge;
  Eigen::LLT<MatrixD> factor(covariance);
  if (factor.info() != Eigen::Success) {
    throw Error(ErrorCode::kInternal, "a regularised covariance is not positive definite");
  }
  return factor;
}

// The directions w, each times its correlation: D × (as many as are correlated, at most `bits`).
MatrixF CorrelatedDirections(const CcaItqOptions& options, const CrossMoments& moments,
                             const LabelTargets& targets) {
  const MatrixD vectors = moments.inputs().Covariance();
  const MatrixD labels = LabelCovariance(targets);
  const auto vector_factor = FactorRegularised(
      vectors, RidgeOf(vectors, options.regularisation, moments.inputs().dimension()));
  const auto label_factor = FactorRegularised(
      labels, RidgeOf(labels, options.regularisation, targets.occurring_classes()));

  // With Cxx + ρI = LLᵀ and Cyy + ρI = KKᵀ, r and Lᵀw are the singular values and left vectors of
  // L⁻¹ Cxy K⁻ᵀ.
  MatrixD whitened = moments.cross().scatter() / static_cast<double>(moments.count());  // Cyx
  label_factor.matrixL().solveInPlace(whitened);
  whitened.transposeInPlace();
  vector_factor.matrixL().solveInPlace(whitened);
  const Index most = std::min({Index{options.bits}, vectors.rows(), targets.occurring_classes()});
  SymmetricEigen eigen = ComputeSymmetricEigen(whitened * whitened.transpose(), most);

  const VectorD correlations = eigen.values.cwiseMax(0.0).cwiseSqrt();
  if (!(correlations[0] > kLeastCorrelation)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the labels are not correlated with the vectors: there is nothing to learn from");
  }
  const Index kept = (correlations.array() > kLeastShare * correlations[0]).count();
  MatrixD directions = eigen.vectors.leftCols(kept);
  vector_factor.matrixU().solveInPlace(directions);
  return (directions * correlations.head(kept).asDiagonal()).cast<float>();
}

LinearMap RotateDirections(const CcaItqOptions& options, const MatrixF& directions,
                           const VectorD& mean, const ColumnSource& vectors,
                           const RunContext& context, TrainingSummary& summary) {
  const VectorF centre = mean.cast<float>();
  const ItqOptions itq{
      .bits = options.bits, .iterations = options.iterations, .memory = options.memory};
  const MatrixF rotation = FindItqRotation(
      itq,
      [&](const MatrixFRef& block) -> MatrixF {
        return directions.transpose() * (block.colwise() - centre);
      },
      directions.cols(), vectors, context, summary);
  LinearMap map;
  map.weights = rotation * directions.transpose();
  map.bias = (-(map.weights.cast<double>() * mean)).cast<float>();
  return map;
}

}  // namespace

void CcaItqOptions::Validate() const {
  ItqOptions{.bits = bits, .iterations = iterations, .memory = memory}.Validate();
  if (!(regularisation >= 0) || std::isinf(regularisation)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("regularisation: expected a finite number of 0 or more, got {}",
                            regularisation));
  }
}

Trained<HashModel> TrainCcaItq(const CcaItqOptions& options, const ColumnSource& vectors,
                               const Labels& labels, const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  const LabelTargets targets(labels, vectors.size());
  const CrossMoments moments = ComputeCrossMoments(vectors, targets, context);
  RequireTrainable(moments.inputs());
  const MatrixF directions = CorrelatedDirections(options, moments, targets);

  TrainingSummary summary{.samples = vectors.size()};
  auto encoder = std::make_shared<LinearEncoder>(
      RotateDirections(options, directions, moments.inputs().mean(), vectors, context, summary));
  LinearMap decoder = FitDecoder(*encoder, vectors, context.WithoutStop());
  summary.seconds = watch.seconds();
  return {
      .model = {.method = "cca-itq", .encoder = std::move(encoder), .decoder = std::move(decoder)},
      .summary = std::move(summary)};
}

}  // namespace bitpool
