#include "bitpool/hash/kernel_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/linalg/reductions.h"

namespace bitpool {
namespace {

constexpr size_t kKernelColumns = 1024;

MatrixF DrawAnchors(const ColumnSource& source, int count, Random random) {
  const auto size = static_cast<uint64_t>(source.size());
  const std::vector<uint64_t> sample =
      random.Sample(size, std::min(static_cast<uint64_t>(count), size));
  std::vector<Index> chosen(sample.begin(), sample.end());
  std::ranges::sort(chosen);  // files are read forward
  return GatherColumns(source, chosen);
}

VectorF MiddleOf(const MatrixF& anchors) {
  return anchors.cast<double>().rowwise().mean().cast<float>();
}

double SumOfSquaredDistances(const MatrixFRef& block, const VectorF& point) {
  double sum = 0;
  for (Index i = 0; i < block.cols(); ++i) {
    sum += SquaredDistance(block.col(i).data(), point.data(), point.size());
  }
  return sum;
}

// The root of the mean of ‖x − a‖² over all pairs. With the mean m of the anchors, it is the mean
// of ‖x − m‖² plus that of ‖a − m‖², so that no pair need be looked at.
double RootMeanSquaredDistance(const ColumnSource& source, const MatrixF& anchors,
                               const RunContext& context) {
  const VectorF middle = MiddleOf(anchors);
  double sum = 0;
  context.pool().OrderedReduce(
      static_cast<size_t>(source.size()), kKernelColumns, 0.0,
      [&](double& part, size_t begin, size_t end) {
        context.ThrowIfStopped();
        thread_local MatrixF buffer;
        const auto first = static_cast<Index>(begin);
        const ColumnsView block = source.Read(first, static_cast<Index>(end - begin), buffer);
        RequireFinite(block, first);
        part = SumOfSquaredDistances(block, middle);
      },
      [&](double part) { sum += part; });
  return std::sqrt(sum / static_cast<double>(source.size()) +
                   SumOfSquaredDistances(anchors, middle) / static_cast<double>(anchors.cols()));
}

}  // namespace

AnchorKernel::AnchorKernel(MatrixF anchors, double width)
    : anchors_(std::move(anchors)), width_(static_cast<float>(width)) {
  if (anchors_.size() == 0 || !anchors_.allFinite()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("anchors of a kernel: expected finite numbers, got {} × {}{}", anchors_.rows(),
                    anchors_.cols(), anchors_.size() == 0 ? "" : " of which some are not finite"));
  }
  if (!(width_ > 0) || std::isinf(width_)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("width of a kernel: expected a finite number above 0, got {}", width));
  }
  middle_ = MiddleOf(anchors_);
  const double square = static_cast<double>(width_) * static_cast<double>(width_);
  const MatrixD centred = (anchors_.colwise() - middle_).cast<double>();
  scaled_ = (centred / square).cast<float>();
  half_squares_ = (centred.colwise().squaredNorm() / (2 * square)).transpose().cast<float>();
  if (!scaled_.allFinite() || !half_squares_.allFinite()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("width of a kernel: {} is too small against the distances of its "
                            "anchors",
                            width));
  }
}

MatrixF AnchorKernel::Columns(const MatrixFRef& block) const {
  const MatrixF shifted = block.colwise() - middle_;
  const double twice_square = 2 * static_cast<double>(width_) * static_cast<double>(width_);
  MatrixF values(size(), block.cols());
  values.noalias() = scaled_.transpose() * shifted;
  for (Index i = 0; i < block.cols(); ++i) {
    const float* column = shifted.col(i).data();
    const double square = Dot(column, column, shifted.rows());
    const auto half = static_cast<float>(square / twice_square);
    if (!std::isfinite(square)) {
      values.col(i).setConstant(std::numeric_limits<float>::quiet_NaN());
    } else if (std::isinf(half)) {
      values.col(i).setZero();  // farther from every anchor than single precision can tell
    } else {
      // Rounding must not make a distance negative.
      values.col(i) = ((values.col(i) - half_squares_).array() - half).min(0.0F).exp();
    }
  }
  return values;
}

void KernelOptions::Validate() const {
  if (anchors < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("anchors: expected 1 or more, got {}", anchors));
  }
  if (!(width >= 0) || std::isinf(width)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("width: expected a finite number above 0, or 0 to find it from the "
                            "data, got {}",
                            width));
  }
}

AnchorKernel DrawKernel(const KernelOptions& options, const ColumnSource& source, Random random,
                        const RunContext& context) {
  options.Validate();
  if (source.size() < 1 || source.dimension() < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a kernel needs samples: got {} of {} dimensions", source.size(),
                            source.dimension()));
  }
  MatrixF anchors = DrawAnchors(source, options.anchors, random);
  if (options.width > 0) return {std::move(anchors), options.width};
  const double width = RootMeanSquaredDistance(source, anchors, context);
  if (!(width > 0)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the training samples are all alike: a kernel has no width");
  }
  return {std::move(anchors), width};
}

KernelEncoder::KernelEncoder(MatrixF anchors, double width, LinearMap map)
    : KernelEncoder(AnchorKernel(std::move(anchors), width), std::move(map)) {}

KernelEncoder::KernelEncoder(AnchorKernel kernel, LinearMap map)
    : kernel_(std::move(kernel)), map_(std::move(map)) {
  if (map_.weights.rows() != map_.bias.size() || map_.weights.cols() != kernel_.size()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("an encoder of {} anchors, {} × {} weights and {} biases: sizes do not "
                    "agree",
                    kernel_.size(), map_.weights.rows(), map_.weights.cols(), map_.bias.size()));
  }
  RequireBits(static_cast<int>(map_.weights.rows()));
  if (!map_.weights.allFinite() || !map_.bias.allFinite()) {
    throw Error(ErrorCode::kInvalidArgument, "an encoder with numbers that are not finite");
  }
}

std::vector<NamedMatrix> KernelEncoder::Parameters() const {
  return {{"kernel_anchors", kernel_.anchors()},
          {"kernel_width", MatrixF::Constant(1, 1, kernel_.width())},
          {"kernel_map_weights", map_.weights},
          {"kernel_map_bias", map_.bias}};
}

MatrixF KernelEncoder::ProjectColumns(const MatrixFRef& block) const {
  MatrixF projected(map_.weights.rows(), block.cols());
  projected.noalias() = map_.weights * kernel_.Columns(block);
  projected.colwise() += map_.bias;
  return projected;
}

}  // namespace bitpool
