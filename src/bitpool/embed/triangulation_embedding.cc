#include "bitpool/embed/triangulation_embedding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/linalg/pca.h"
#include "bitpool/linalg/reductions.h"

namespace bitpool {
namespace {

// Columns embedded at once: enough for the product to run at full speed.
constexpr Index kBlockColumns = 512;
// Dimensions of R(x): the covariance has the square of it.
constexpr Index kMostResiduals = 16384;
// Variances below this share of the largest are rounding: of 1152 residuals of SIFT the smallest
// has 2·10⁻⁷ of the largest, and the sums in single precision err by 2·10⁻¹⁰ of it.
constexpr float kLeastVariance = 1e-8F;

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

// (x − c) / ‖x − c‖ − centre, and 0 − centre where x = c. In double precision: the factor of a very
// short residual does not fit into single. False for values that are not finite.
bool WriteResidual(const float* x, const float* anchor, const float* centre, Index size,
                   float* residual) {
  const double squared = SquaredDistance(x, anchor, size);
  if (!std::isfinite(squared)) return false;
  const double factor = squared > 0 ? 1 / std::sqrt(squared) : 0;
  for (Index i = 0; i < size; ++i) {
    const double difference = static_cast<double>(x[i]) - static_cast<double>(anchor[i]);
    residual[i] = static_cast<float>(difference * factor) - centre[i];
  }
  return true;
}

// R(x) − centre of every column. `first` is the number of the first, for messages.
void WriteResiduals(const MatrixF& anchors, const VectorF& centre, const MatrixFRef& block,
                    Index first, MatrixF& residuals) {
  const Index size = anchors.rows();
  residuals.resize(anchors.size(), block.cols());
  for (Index column = 0; column < block.cols(); ++column) {
    const float* x = block.col(column).data();
    float* out = residuals.col(column).data();
    for (Index j = 0; j < anchors.cols(); ++j) {
      const float* part_of_centre = centre.data() + j * size;
      if (!WriteResidual(x, anchors.col(j).data(), part_of_centre, size, out + j * size)) {
        RequireFinite(block.col(column), first + column);
      }
    }
  }
}

// R(x) of the columns of another source.
class ResidualColumns : public ColumnSource {
 public:
  ResidualColumns(const MatrixF& anchors, const ColumnSource& descriptors)
      : anchors_(anchors), centre_(VectorF::Zero(anchors.size())), descriptors_(descriptors) {}

  Index dimension() const override { return anchors_.size(); }
  Index size() const override { return descriptors_.size(); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override {
    MatrixF descriptor_buffer;
    WriteResiduals(anchors_, centre_, descriptors_.Read(first, count, descriptor_buffer), first,
                   buffer);
    return ViewOf(buffer);
  }

  const MatrixF& anchors_;
  VectorF centre_;
  const ColumnSource& descriptors_;
};

// The number of components left out; throws when the options and the sample do not go together.
Index CheckedDropped(const TriangulationOptions& options, const ColumnSource& sample) {
  const Index dimension = sample.dimension();
  if (dimension < 1) Refuse("the descriptors to learn from have no dimensions");
  if (sample.size() < options.anchors) {
    Refuse(
        fmt::format("anchors: {} cannot be found in {} descriptors; ask for fewer anchors or "
                    "give more descriptors",
                    options.anchors, sample.size()));
  }
  if (options.anchors > kMostResiduals / dimension) {
    Refuse(fmt::format("anchors: for descriptors of {} dimensions expected at most {}, got {}",
                       dimension, kMostResiduals / dimension, options.anchors));
  }
  const Index dropped = options.dropped.value_or(dimension);
  const Index components = options.anchors * dimension;
  if (dropped >= components) {
    Refuse(
        fmt::format("dropped: {} anchors and {} dimensions give {} components, of which at most "
                    "{} can be left out, not {}",
                    options.anchors, dimension, components, components - 1, dropped));
  }
  return dropped;
}

// diag(λ)^(−1/2) Pᵀ without the first components. Returns how many rows are zero.
Index Whiten(const Pca& pca, Index samples, Index dropped, MatrixF& projection) {
  const Index kept = pca.components() - dropped;
  const float least = kLeastVariance * pca.variances[0];
  projection = pca.basis.rightCols(kept).transpose();
  Index flat = 0;
  for (Index i = 0; i < kept; ++i) {
    const float variance = pca.variances[dropped + i];
    // n samples span n − 1 directions around their mean, whatever rounding makes of the others.
    const bool varies = dropped + i < samples - 1 && variance > least;
    if (varies) {
      projection.row(i) /= std::sqrt(variance);
    } else {
      projection.row(i).setZero();
      ++flat;
    }
  }
  return flat;
}

const MatrixF& Find(const TriangulationEmbedding::NamedMatrices& parameters,
                    std::string_view name) {
  const auto found = std::ranges::find(parameters, name, &std::pair<std::string, MatrixF>::first);
  if (found == parameters.end()) {
    Refuse(fmt::format("an embedding without the array \"{}\"", name));
  }
  return found->second;
}

VectorF FindVector(const TriangulationEmbedding::NamedMatrices& parameters, std::string_view name) {
  const MatrixF& matrix = Find(parameters, name);
  if (matrix.cols() != 1) {
    Refuse(fmt::format("\"{}\" of an embedding: expected one column, got {}", name, matrix.cols()));
  }
  return matrix;
}

bool IsPower(double power) { return power > 0 && power <= 1; }

}  // namespace

void TriangulationOptions::Validate() const {
  RequireOption(anchors >= 1, "anchors", "1 or more", anchors);
  RequireOption(dropped.value_or(0) >= 0, "dropped", "0 or more", dropped.value_or(0));
  RequireOption(IsPower(power), "power", "more than 0 and at most 1", power);
  RequireOption(kmeans_iterations >= 1, "kmeans_iterations", "1 or more", kmeans_iterations);
  RequireOption(kmeans_tolerance >= 0, "kmeans_tolerance", "0 or more", kmeans_tolerance);
}

std::string TriangulationSummary::BriefReport() const {
  return fmt::format(
      "triangulation embedding: {} -> {} dimensions from {} descriptors and {} anchors, {:.1f}% of "
      "the variance left out, {} components without variance, {:.2f} s",
      input_dimension, dimension, samples, anchors.clusters, 100 * dropped, flat, seconds);
}

TriangulationEmbedding::TriangulationEmbedding(TriangulationParts parts)
    : parts_(std::move(parts)) {
  const Index residuals = parts_.anchors.size();
  if (residuals < 1 || parts_.mean.size() != residuals || parts_.projection.rows() < 1 ||
      parts_.projection.cols() != residuals) {
    Refuse(
        fmt::format("an embedding of {} × {} anchors, a mean of {} and a projection of {} × {}: "
                    "sizes do not agree",
                    parts_.anchors.rows(), parts_.anchors.cols(), parts_.mean.size(),
                    parts_.projection.rows(), parts_.projection.cols()));
  }
  if (!parts_.anchors.allFinite() || !parts_.mean.allFinite() || !parts_.projection.allFinite()) {
    Refuse("an embedding with numbers that are not finite");
  }
  if (!IsPower(parts_.power)) {
    Refuse(fmt::format("power of an embedding: expected more than 0 and at most 1, got {}",
                       parts_.power));
  }
}

TriangulationEmbedding TriangulationEmbedding::FromParameters(const NamedMatrices& parameters) {
  const VectorF finish = FindVector(parameters, kParameterNames[3]);
  if (finish.size() != 2 || (finish[1] != 0 && finish[1] != 1)) {
    Refuse(fmt::format("\"{}\" of an embedding: expected a power and 0 or 1", kParameterNames[3]));
  }
  return TriangulationEmbedding({.anchors = Find(parameters, kParameterNames[0]),
                                 .mean = FindVector(parameters, kParameterNames[1]),
                                 .projection = Find(parameters, kParameterNames[2]),
                                 .power = static_cast<double>(finish[0]),
                                 .normalise = finish[1] == 1});
}

TriangulationEmbedding::NamedMatrices TriangulationEmbedding::Parameters() const {
  MatrixF finish(2, 1);
  finish << static_cast<float>(parts_.power), parts_.normalise ? 1.0F : 0.0F;
  return {{kParameterNames[0], parts_.anchors},
          {kParameterNames[1], parts_.mean},
          {kParameterNames[2], parts_.projection},
          {kParameterNames[3], finish}};
}

MatrixF TriangulationEmbedding::Apply(const MatrixFRef& descriptors) const {
  if (descriptors.rows() != input_dimension()) {
    Refuse(fmt::format("descriptors of dimension {}; the embedding was trained for dimension {}",
                       descriptors.rows(), input_dimension()));
  }
  const Index count = descriptors.cols();
  MatrixF embedded(dimension(), count);
  MatrixF residuals;
  for (Index first = 0; first < count; first += kBlockColumns) {
    const Index columns = std::min(kBlockColumns, count - first);
    WriteResiduals(parts_.anchors, parts_.mean, descriptors.middleCols(first, columns), first,
                   residuals);
    auto block = embedded.middleCols(first, columns);
    block.noalias() = parts_.projection * residuals;
    Finish(block);
  }
  return embedded;
}

void TriangulationEmbedding::Finish(Eigen::Ref<MatrixF> embedded) const {
  if (parts_.power != 1) {
    const auto power = static_cast<float>(parts_.power);
    embedded.array() = embedded.array().sign() * embedded.array().abs().pow(power);
  }
  if (!parts_.normalise) return;
  for (Index column = 0; column < embedded.cols(); ++column) {
    const float* values = embedded.col(column).data();
    const double squared = Dot(values, values, embedded.rows());
    if (squared > 0) embedded.col(column) *= static_cast<float>(1 / std::sqrt(squared));
  }
}

Trained<TriangulationEmbedding> TrainTriangulation(const TriangulationOptions& options,
                                                   const ColumnSource& sample,
                                                   const RunContext& context) {
  options.Validate();
  const Index dropped = CheckedDropped(options, sample);
  const Stopwatch watch;
  const Trained<KMeans> anchors = TrainKMeans({.clusters = options.anchors,
                                               .iterations = options.kmeans_iterations,
                                               .tolerance = options.kmeans_tolerance},
                                              sample, context);
  TriangulationParts parts = {.anchors = anchors.model.centroids(),
                              .mean = {},
                              .projection = {},
                              .power = options.power,
                              .normalise = options.normalise};
  const Pca pca = TrainPca({.components = parts.anchors.size()},
                           ResidualColumns(parts.anchors, sample), context)
                      .model;
  parts.mean = pca.mean;
  TriangulationSummary summary;
  summary.flat = Whiten(pca, sample.size(), dropped, parts.projection);
  if (pca.total_variance > 0) {
    summary.dropped = pca.variances.head(dropped).cast<double>().sum() / pca.total_variance;
  }
  summary.samples = sample.size();
  summary.input_dimension = sample.dimension();
  summary.dimension = parts.projection.rows();
  summary.anchors = anchors.summary;
  Trained<TriangulationEmbedding> trained = {TriangulationEmbedding(std::move(parts)), summary};
  trained.summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
