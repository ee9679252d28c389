#include "bitpool/linalg/pca.h"

#include <fmt/format.h>

#include <algorithm>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/linalg/symmetric_eigen.h"

namespace bitpool {
namespace {

void CheckComponents(Index components, Index dimension) {
  if (components >= 1 && components <= dimension) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("components: data of {0} dimensions has 1 to {0} of them, got {1}; ask for fewer "
                  "or use features of more dimensions",
                  dimension, components));
}

}  // namespace

void PcaOptions::Validate() const {
  if (components >= 1) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("components: expected 1 or more, got {}", components));
}

std::string PcaSummary::BriefReport() const {
  return fmt::format("PCA: {} components of {} samples explain {:.1f}% of the variance, {:.2f} s",
                     components, samples, 100 * explained, seconds);
}

MatrixF Pca::Project(const MatrixFRef& block) const {
  if (block.rows() != dimension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("PCA was learned from {} dimensions, the data has {}", dimension(),
                            block.rows()));
  }
  // Centred before the product: basisᵀx − basisᵀmean would cancel when the mean is large.
  const MatrixF centred = block.colwise() - mean;
  return basis.transpose() * centred;
}

Pca ComputePca(const Moments& moments, Index components) {
  const MatrixD covariance = moments.Covariance();
  CheckComponents(components, moments.dimension());
  const SymmetricEigen eigen = ComputeSymmetricEigen(covariance, components);
  Pca pca;
  pca.mean = moments.mean().cast<float>();
  pca.basis = eigen.vectors.cast<float>();
  pca.variances = eigen.values.cwiseMax(0.0).cast<float>();
  pca.total_variance = covariance.trace();
  return pca;
}

Trained<Pca> TrainPca(const PcaOptions& options, const ColumnSource& source,
                      const RunContext& context) {
  options.Validate();
  CheckComponents(options.components, source.dimension());  // before the pass over the data
  const Stopwatch watch;
  Trained<Pca> trained;
  const Moments moments = ComputeMoments(source, context);
  trained.model = ComputePca(moments, options.components);
  const Pca& pca = trained.model;
  PcaSummary& summary = trained.summary;
  summary.samples = moments.count();
  summary.components = options.components;
  if (pca.total_variance > 0) {
    summary.explained = std::min(1.0, pca.variances.cast<double>().sum() / pca.total_variance);
  }
  summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
