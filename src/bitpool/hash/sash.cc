#include "bitpool/hash/sash.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/label_targets.h"
#include "bitpool/linalg/moments.h"

namespace bitpool {
namespace {

// eq:mapping itself: P = ΦΦ₀ᵀ(Φ₀Φ₀ᵀ + αI)⁻¹, without a bias.
LinearMap FindLiteralMapping(double alpha, const MatrixF& pooled, const MatrixF& learned) {
  const MatrixD x = pooled.cast<double>();
  MatrixD gram = x * x.transpose();
  gram.diagonal().array() += alpha;
  const MatrixD cross = learned.cast<double>() * x.transpose();
  const MatrixD mapping = gram.llt().solve(cross.transpose()).transpose();
  return {.weights = mapping.cast<float>(), .bias = VectorF::Zero(learned.rows())};
}

// first, then second
LinearMap Compose(const LinearMap& first, const LinearMap& second) {
  return {.weights = second.weights * first.weights,
          .bias = second.weights * first.bias + second.bias};
}

}  // namespace

SashOptions SashOptions::Paper(int bits) {
  SashOptions options;
  options.joint = SahOptions::Paper(bits);
  options.joint.rba.lambda = 1e-4;
  options.joint.rba.beta = 1e-3;
  options.joint.gamma = 1;
  options.alpha = 0.5;
  return options;
}

void SashOptions::Validate() const {
  joint.Validate();
  if (!(alpha > 0 && std::isfinite(alpha))) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("alpha of SASH: expected a positive number, got {}", alpha));
  }
}

LinearMap FindMapping(const SashOptions& options, const MatrixF& pooled, const MatrixF& learned,
                      const RunContext& context) {
  if (options.joint.rba.scale == ConstantScale::kLiteral) {
    return FindLiteralMapping(options.alpha, pooled, learned);
  }
  const CrossMoments moments =
      ComputeCrossMoments(MatrixColumns(pooled), MatrixColumns(learned), context);
  const double variance =
      moments.inputs().Covariance().trace() / static_cast<double>(pooled.rows());
  return SolveRidge(moments, options.alpha * variance * static_cast<double>(pooled.cols()));
}

Trained<HashModel> TrainSash(const SashOptions& options, const RecordStore& records,
                             const Labels& labels, const RunContext& context, JointRun run) {
  options.Validate();
  const Stopwatch watch;
  const LabelTargets targets(labels, records.size());
  TrainingSummary summary;
  const JointState state =
      Alternate(options.joint, records, &targets, context, std::move(run), summary);
  const RunContext finishing = context.WithoutStop();
  const MatrixF pooled = InitialVectors(options.joint, records, finishing);
  const LinearMap mapping = FindMapping(options, pooled, state.vectors, finishing);
  HashModel model;
  model.method = "sash";
  model.encoder = std::make_shared<LinearEncoder>(Compose(mapping, state.encoder));
  model.pooling = {.normalise = options.joint.normalise, .mu = options.joint.mu, .gamma = 0};
  model.decoder = FitDecoder(*model.encoder, MatrixColumns(pooled), finishing);
  summary.seconds = watch.seconds();
  return {.model = std::move(model), .summary = std::move(summary)};
}

Trained<HashModel> TrainSash(const SashOptions& options, const FeatureSet& features,
                             const Labels& labels, const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  const Labels kept = LabelsOfRecords(features, labels);
  MemoryRecords records(features.dimension());
  std::vector<std::string> skipped =
      ReduceImages(features, options.joint.normalise, records, context);
  Trained<HashModel> trained = TrainSash(options, records, kept, context, {});
  trained.summary.skipped = std::move(skipped);
  trained.summary.seconds = watch.seconds();
  return trained;
}

Labels LabelsOfRecords(const FeatureSet& features, const Labels& labels) {
  if (labels.size() != features.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} labels for {} images", labels.size(), features.size()));
  }
  std::vector<Index> images;
  for (Index image = 0; image < features.size(); ++image) {
    if (features.descriptor_count(image) > 0) images.push_back(image);
  }
  return labels.Select(images);
}

}  // namespace bitpool
