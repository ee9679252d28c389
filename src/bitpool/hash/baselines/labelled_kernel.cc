#include "bitpool/hash/baselines/labelled_kernel.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/label_targets.h"
#include "bitpool/linalg/moments.h"

namespace bitpool {
namespace {

constexpr size_t kLabelledColumns = 1024;
constexpr uint64_t kLabelledStream = 1, kAnchorStream = 2;

// Ascending.
std::vector<Index> DrawLabelled(const Labels& labels, Index samples, Random random) {
  std::vector<Index> labelled;
  for (Index i = 0; i < labels.size(); ++i) {
    if (!labels.of(i).empty()) labelled.push_back(i);
  }
  if (samples == 0 || static_cast<size_t>(samples) >= labelled.size()) return labelled;
  std::vector<Index> drawn;
  for (const uint64_t i : random.Sample(labelled.size(), static_cast<uint64_t>(samples))) {
    drawn.push_back(labelled[i]);
  }
  std::sort(drawn.begin(), drawn.end());  // files are read forward
  return drawn;
}

VectorD MeanOfKernel(const AnchorKernel& kernel, const ColumnSource& vectors,
                     const RunContext& context) {
  VectorD sum = VectorD::Zero(kernel.size());
  context.pool().OrderedReduce(
      static_cast<size_t>(vectors.size()), kLabelledColumns, VectorD(),
      [&](VectorD& part, size_t begin, size_t end) {
        context.ThrowIfStopped();
        MatrixF buffer;
        const ColumnsView block =
            vectors.Read(static_cast<Index>(begin), static_cast<Index>(end - begin), buffer);
        part = kernel.Columns(block).cast<double>().rowwise().sum();
      },
      [&](const VectorD& part) { sum += part; });
  return sum / static_cast<double>(vectors.size());
}

MatrixD CentredFeatures(const AnchorKernel& kernel, const VectorD& mean, const MatrixF& samples,
                        const RunContext& context) {
  MatrixD features(kernel.size(), samples.cols());
  context.ParallelFor(
      static_cast<size_t>(samples.cols()), kLabelledColumns, [&](size_t begin, size_t end) {
        const auto first = static_cast<Index>(begin), count = static_cast<Index>(end - begin);
        const MatrixF values = kernel.Columns(samples.middleCols(first, count));
        features.middleCols(first, count) = values.cast<double>().colwise() - mean;
      });
  return features;
}

}  // namespace

std::shared_ptr<const KernelEncoder> LabelledKernel::MakeEncoder(const MatrixD& weights) const {
  LinearMap map;
  map.weights = weights.cast<float>();
  // Of the rounded weights, so that what rounding changes has mean zero too.
  map.bias = -(map.weights.cast<double>() * mean).cast<float>();
  return std::make_shared<KernelEncoder>(kernel, std::move(map));
}

LabelledKernel PrepareLabelledKernel(const KernelOptions& options, Index samples,
                                     const ColumnSource& vectors, const Labels& labels,
                                     const RunContext& context) {
  RequireTrainable(ComputeMoments(vectors, context));
  const LabelTargets checked(labels, vectors.size());
  AnchorKernel kernel = DrawKernel(options, vectors, context.MakeRandom(kAnchorStream), context);
  VectorD mean = MeanOfKernel(kernel, vectors, context);
  const std::vector<Index> drawn =
      DrawLabelled(labels, samples, context.MakeRandom(kLabelledStream));
  MatrixD features = CentredFeatures(kernel, mean, GatherColumns(vectors, drawn), context);
  return {std::move(kernel), std::move(mean), std::move(features),
          PairwiseLabels(labels.Select(drawn))};
}

}  // namespace bitpool
