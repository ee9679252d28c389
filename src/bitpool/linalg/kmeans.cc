#include "bitpool/linalg/kmeans.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/linalg/reductions.h"

namespace bitpool {
namespace {

constexpr Index kScores = Index{1} << 18;        // distances computed at once, if that leaves
constexpr Index kMinPart = 64, kMaxPart = 1024;  // this many columns
constexpr double kUnitRoundoff = std::numeric_limits<float>::epsilon() / 2.0;
constexpr double kLargestSquare = std::numeric_limits<float>::max() / 4.0;

void ThrowTooLarge(const MatrixFRef& part, Index column, Index first) {
  RequireFinite(part.col(column), first + column);
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("column {}: its values are too large to be squared in single precision; "
                          "divide the data by its largest value first",
                          first + column));
}

}  // namespace

void KMeansOptions::Validate() const {
  RequireOption(clusters >= 1 && clusters <= std::numeric_limits<int32_t>::max(), "clusters",
                "1 or more", clusters);
  RequireOption(iterations >= 1, "iterations", "1 or more", iterations);
  RequireOption(tolerance >= 0 && tolerance < 1, "tolerance", "a number in [0, 1)", tolerance);
  RequireOption(seeding_samples >= 0, "seeding_samples", "0 (automatic) or more", seeding_samples);
}

std::string KMeansSummary::BriefReport() const {
  const double first = iterations.empty() ? 0 : iterations.front().objective;
  const double last = iterations.empty() ? 0 : iterations.back().objective;
  return fmt::format(
      "k-means: {} clusters of {} samples, {} iterations, mean squared distance {:.6g} -> {:.6g}, "
      "{}, {:.2f} s",
      clusters, samples, iterations.size(), first, last, converged ? "converged" : "not converged",
      seconds);
}

KMeans::KMeans(MatrixF centroids) : centroids_(std::move(centroids)) {
  if (centroids_.cols() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "k-means needs at least one centroid");
  }
  RequireFinite(centroids_, 0);
  const VectorD sum = centroids_.cast<double>().rowwise().sum();
  centre_ = (sum / static_cast<double>(centroids_.cols())).cast<float>();
  minus_twice_ = centroids_.colwise() - centre_;
  squared_norms_ = minus_twice_.colwise().squaredNorm();
  minus_twice_ *= -2.0F;
  largest_norm_ = std::sqrt(squared_norms_.maxCoeff());
}

Assignment KMeans::Assign(const MatrixFRef& block, Index first) const {
  if (block.rows() != centroids_.rows()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the centroids have {} dimensions, the data has {}", centroids_.rows(),
                            block.rows()));
  }
  Assignment result;
  result.clusters.resize(static_cast<size_t>(block.cols()));
  result.squared_distances.resize(static_cast<size_t>(block.cols()));
  const Index part = std::clamp(kScores / centroids_.cols(), kMinPart, kMaxPart);
  for (Index offset = 0; offset < block.cols(); offset += part) {
    const Index count = std::min(part, block.cols() - offset);
    AssignPart(block.middleCols(offset, count), offset, first + offset, result);
  }
  return result;
}

void KMeans::AssignPart(const MatrixFRef& part, Index offset, Index first,
                        Assignment& result) const {
  const MatrixF shifted = part.colwise() - centre_;
  // ‖c‖² − 2cᵀx, which differs from ‖x − c‖² by ‖x‖², the same for all c.
  MatrixF scores = minus_twice_.transpose() * shifted;
  scores.colwise() += squared_norms_;
  for (Index column = 0; column < part.cols(); ++column) {
    const double reach = static_cast<double>(shifted.col(column).norm() + largest_norm_);
    if (!(reach * reach <= kLargestSquare)) ThrowTooLarge(part, column, first);
    // A score is wrong by at most (D + 8) units of rounding of (‖x‖ + ‖c‖)², so the nearest
    // centroid is among those within twice that of the best score.
    const double slack = 2 * static_cast<double>(part.rows() + 8) * kUnitRoundoff * reach * reach;
    const double bound = static_cast<double>(scores.col(column).minCoeff()) + slack;
    const auto at = static_cast<size_t>(offset + column);
    NearestUnder(static_cast<float>(bound), scores.col(column).data(), part.col(column).data(),
                 result.clusters[at], result.squared_distances[at]);
  }
}

void KMeans::NearestUnder(float bound, const float* scores, const float* sample, int32_t& cluster,
                          float& squared_distance) const {
  double best = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < centroids_.cols(); ++i) {
    if (scores[i] > bound) continue;
    const double distance = SquaredDistance(sample, centroids_.col(i).data(), centroids_.rows());
    if (distance >= best) continue;
    best = distance;
    cluster = static_cast<int32_t>(i);
  }
  squared_distance = static_cast<float>(best);
}

Assignment Assign(const MatrixFRef& centroids, const MatrixFRef& block) {
  return KMeans(MatrixF(centroids)).Assign(block);
}

}  // namespace bitpool
