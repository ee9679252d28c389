#include "bitpool/hash/baselines/binary_reconstructive_embedding.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/baselines/labelled_kernel.h"
#include "bitpool/hash/baselines/reconstructive_codes.h"

namespace bitpool {
namespace {

constexpr uint64_t kBreWeights = 3;  // labelled_kernel.cc uses 1 and 2

// The anchors of each bit, and the first weights: normal there and zero elsewhere.
struct Landmarks {
  std::vector<std::vector<uint64_t>> of_bit;
  MatrixF weights;  // bits × anchors
};

Landmarks DrawLandmarks(int bits, int landmarks, Index anchors, Random random) {
  Landmarks drawn;
  drawn.weights = MatrixF::Zero(bits, anchors);
  const auto population = static_cast<uint64_t>(anchors);
  for (Index bit = 0; bit < bits; ++bit) {
    drawn.of_bit.push_back(
        random.Sample(population, std::min(static_cast<uint64_t>(landmarks), population)));
    for (const uint64_t anchor : drawn.of_bit.back()) {
      drawn.weights(bit, static_cast<Index>(anchor)) = static_cast<float>(random.Normal());
    }
  }
  return drawn;
}

double ShareChanged(const MatrixF& before, const MatrixF& after) {
  return static_cast<double>((before.array() != after.array()).count()) /
         static_cast<double>(before.size());
}

// bits × anchors
MatrixF FindWeights(const BinaryReconstructiveEmbeddingOptions& options, const LabelledKernel& data,
                    const RunContext& context, TrainingSummary& summary) {
  const Landmarks landmarks = DrawLandmarks(options.bits, options.landmarks, data.features.rows(),
                                            context.MakeRandom(kBreWeights));
  ReconstructiveCodes codes(data.features.transpose().cast<float>(), data.pairs, landmarks.weights);
  double loss = codes.Loss();
  Progress progress = context.StartProgress("binary reconstructive embedding", "iterations",
                                            static_cast<uint64_t>(options.iterations));
  for (int i = 0; i < options.iterations && !summary.converged; ++i) {
    const Stopwatch watch;
    const MatrixF before = codes.signs();
    for (Index bit = 0; bit < options.bits; ++bit) {
      context.ThrowIfStopped();
      for (const uint64_t anchor : landmarks.of_bit[static_cast<size_t>(bit)]) {
        codes.ImproveWeight(bit, static_cast<Index>(anchor));
      }
    }
    TrainingIteration& iteration = summary.iterations.emplace_back();
    iteration.objective = codes.Loss();
    iteration.flipped = ShareChanged(before, codes.signs());
    iteration.seconds = watch.seconds();
    summary.converged = loss - iteration.objective <= options.tolerance * loss;
    loss = iteration.objective;
    progress.Advance();
  }
  return codes.weights();
}

}  // namespace

void BinaryReconstructiveEmbeddingOptions::Validate() const {
  RequireBits(bits);
  kernel.Validate();
  RequireOption(landmarks >= 1, "landmarks", "1 or more", landmarks);
  RequireOption(samples == 0 || samples >= 2, "samples", "0 (all) or at least 2", samples);
  RequireOption(iterations >= 0, "iterations", "0 or more", iterations);
  RequireOption(tolerance >= 0, "tolerance", "0 or more", tolerance);
}

Trained<HashModel> TrainBinaryReconstructiveEmbedding(
    const BinaryReconstructiveEmbeddingOptions& options, const ColumnSource& vectors,
    const Labels& labels, const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  const LabelledKernel data =
      PrepareLabelledKernel(options.kernel, options.samples, vectors, labels, context);

  Trained<HashModel> trained;
  trained.summary.samples = data.features.cols();
  trained.model.method = "bre";
  trained.model.encoder =
      data.MakeEncoder(FindWeights(options, data, context, trained.summary).cast<double>());
  trained.model.decoder = FitDecoder(*trained.model.encoder, vectors, context);
  trained.summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
