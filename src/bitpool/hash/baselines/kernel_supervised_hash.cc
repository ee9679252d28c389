#include "bitpool/hash/baselines/kernel_supervised_hash.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/baselines/kernel_bit_search.h"
#include "bitpool/hash/baselines/labelled_kernel.h"

namespace bitpool {
namespace {

// bits × anchors
MatrixD FindWeights(const KernelSupervisedHashOptions& options, const LabelledKernel& data,
                    const RunContext& context, TrainingSummary& summary) {
  KernelBitSearch search(data.features, data.pairs, options.bits, context);
  MatrixD weights(options.bits, data.features.rows());
  Progress progress = context.StartProgress("kernel supervised hashing", "bits",
                                            static_cast<uint64_t>(options.bits));
  for (Index i = 0; i < options.bits; ++i) {
    context.ThrowIfStopped();
    const Stopwatch watch;
    KernelBit bit = search.Spectral();
    KernelBit smoothed = search.Smooth(bit, options.iterations);
    if (search.Agreement(smoothed) > search.Agreement(bit)) bit = std::move(smoothed);
    search.Take(bit);
    weights.row(i) = bit.weights.transpose();
    TrainingIteration& iteration = summary.iterations.emplace_back();
    iteration.objective = search.Objective();
    iteration.seconds = watch.seconds();
    progress.Advance();
  }
  return weights;
}

}  // namespace

void KernelSupervisedHashOptions::Validate() const {
  RequireBits(bits);
  kernel.Validate();
  if (samples != 0 && samples < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("samples: expected 0 (all) or at least 2, got {}", samples));
  }
  if (iterations < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("iterations: expected 0 or more, got {}", iterations));
  }
}

Trained<HashModel> TrainKernelSupervisedHash(const KernelSupervisedHashOptions& options,
                                             const ColumnSource& vectors, const Labels& labels,
                                             const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  const LabelledKernel data =
      PrepareLabelledKernel(options.kernel, options.samples, vectors, labels, context);

  Trained<HashModel> trained;
  trained.summary.samples = data.features.cols();
  trained.model.method = "ksh";
  trained.model.encoder = data.MakeEncoder(FindWeights(options, data, context, trained.summary));
  trained.model.decoder = FitDecoder(*trained.model.encoder, vectors, context);
  trained.summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
