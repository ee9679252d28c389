#include "bitpool/hash/view_scale.h"

#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/linalg/reductions.h"

namespace bitpool {
namespace {

constexpr size_t kScaleColumns = 1024;

// Sums over columns x and outputs h.
struct ViewSums {
  VectorD x, h, h_squared;
  double x_squared = 0;

  void Add(const ViewSums& other) {
    x += other.x;
    h += other.h;
    h_squared += other.h_squared;
    x_squared += other.x_squared;
  }
};

ViewSums SumsOf(const MatrixFRef& block, const LinearMap& map) {
  MatrixF h(map.weights.rows(), block.cols());
  h.noalias() = map.weights * block;
  h.colwise() += map.bias;
  ViewSums sums{.x = VectorD::Zero(block.rows()),
                .h = VectorD::Zero(h.rows()),
                .h_squared = VectorD::Zero(h.rows())};
  for (Index column = 0; column < block.cols(); ++column) {
    sums.x += block.col(column).cast<double>();
    sums.h += h.col(column).cast<double>();
    sums.h_squared += h.col(column).cast<double>().cwiseAbs2();
    sums.x_squared += Dot(block.col(column).data(), block.col(column).data(), block.rows());
  }
  return sums;
}

}  // namespace

ViewScale MeasureViews(const ColumnSource& vectors, const LinearMap& map,
                       const RunContext& context) {
  ViewSums all = SumsOf(MatrixF(vectors.dimension(), 0), map);
  context.pool().OrderedReduce(
      static_cast<size_t>(vectors.size()), kScaleColumns, all,
      [&](ViewSums& part, size_t begin, size_t end) {
        context.ThrowIfStopped();
        MatrixF buffer;
        const ColumnsView block =
            vectors.Read(static_cast<Index>(begin), static_cast<Index>(end - begin), buffer);
        RequireFinite(block, static_cast<Index>(begin));
        part = SumsOf(block, map);
      },
      [&](const ViewSums& part) { all.Add(part); });
  const auto count = static_cast<double>(vectors.size());
  ViewScale scale;
  scale.mean = all.x / count;
  const double variance = all.x_squared / count - scale.mean.squaredNorm();
  // Single precision cannot tell a spread of less than this share of the mean from rounding.
  if (!(variance > 1e-12 * scale.mean.squaredNorm())) {
    throw Error(ErrorCode::kInvalidArgument,
                "the training samples are all alike: there is nothing to learn from");
  }
  scale.unit = std::sqrt(variance / static_cast<double>(vectors.dimension())) / kScaledDeviation;
  const VectorD means = all.h / count;
  const VectorD variances = all.h_squared / count - means.cwiseAbs2();
  scale.deviations = VectorD::Ones(means.size());
  for (Index bit = 0; bit < means.size(); ++bit) {
    const double floor = 1e-12 * means[bit] * means[bit];
    if (variances[bit] > floor) scale.deviations[bit] = std::sqrt(variances[bit]);
  }
  return scale;
}

LinearMap ScaledStart(const ViewScale& scale, const LinearMap& map) {
  const VectorD factors = scale.deviations.cwiseInverse();
  const MatrixD weights = factors.asDiagonal() * map.weights.cast<double>();
  const VectorD bias = factors.cwiseProduct(map.bias.cast<double>()) + weights * scale.mean;
  return {.weights = (scale.unit * weights).cast<float>(), .bias = bias.cast<float>()};
}

LinearMap Unscaled(const ViewScale& scale, const LinearMap& map) {
  const MatrixD weights = map.weights.cast<double>() / scale.unit;
  const VectorD bias = map.bias.cast<double>() - weights * scale.mean;
  return {.weights = weights.cast<float>(), .bias = bias.cast<float>()};
}

}  // namespace bitpool
