#include "bitpool/hash/baselines/similarity_adaptive_hash.h"

#include <cmath>
#include <memory>
#include <utility>

#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/itq.h"
#include "bitpool/hash/scaled_vectors.h"
#include "bitpool/linalg/moments.h"

namespace bitpool {
namespace {

constexpr const char* kSadh = "SADH";
constexpr uint64_t kSadhWeights = 1, kSadhBatches = 2;
constexpr double kFirstTanhDeviation = 0.1;  // of an output: where tanh is almost linear

MatrixF SignsOfNumbers(const MatrixF& numbers) {
  return numbers.unaryExpr([](float value) { return value < 0 ? -1.0F : 1.0F; });
}

MatrixF CodesOfItq(int bits, const ColumnSource& vectors, const RunContext& context) {
  TrainingSummary unused;
  const Moments moments = ComputeMoments(vectors, context);
  RequireTrainable(moments);
  const LinearEncoder encoder(FindItqEncoder({.bits = bits}, vectors, moments, context, unused));
  context.ThrowIfStopped();
  const BinaryCodes codes = EncodeAll(encoder, vectors, context.WithoutProgress());
  return SignsOf(codes, 0, codes.size());
}

// The rounds, one after the other.
class AdaptiveTraining {
 public:
  AdaptiveTraining(const SimilarityAdaptiveHashOptions& options, const ColumnSource& vectors,
                   const RunContext& context)
      : options_(options),
        source_(vectors),
        context_(context),
        codes_(CodesOfItq(options.bits, vectors, context)),
        scale_(MeasureForHead(vectors, context)),
        vectors_(vectors, scale_, options.memory),
        order_(vectors.size(), options.batch, context.MakeRandom(kSadhBatches)),
        head_(options.bits, vectors.dimension(),
              kFirstTanhDeviation / std::sqrt(kHeadSquaredLength), 0,
              context.MakeRandom(kSadhWeights)) {}

  void Iterate(TrainingSummary& summary) {
    const Stopwatch watch;
    TrainingIteration iteration;
    const MatrixF before = codes_;
    if (outputs_.size() == 0) {
      iteration.objective = FindCodes(AnchorGraph(options_.graph, source_, context_));
    } else {
      iteration.objective =
          FindCodes(AnchorGraph(options_.graph, MatrixColumns(outputs_), context_));
    }
    LearnCodes();
    outputs_ = Outputs();
    const auto samples = static_cast<double>(source_.size());
    iteration.quantisation = static_cast<double>((outputs_ - codes_).squaredNorm()) / samples;
    codes_ = SignsOfNumbers(outputs_);
    iteration.flipped = static_cast<double>((codes_.array() != before.array()).count()) /
                        static_cast<double>(codes_.size());
    iteration.seconds = watch.seconds();
    summary.iterations.push_back(iteration);
  }

  LinearMap Encoder() const { return Unscaled(scale_, head_.map()); }

 private:
  // Codes that agree with the graph, and their objective per sample.
  double FindCodes(const AnchorGraph& graph) {
    GraphCodeSolver solver(options_.codes, graph, codes_.cast<double>(), context_);
    Progress progress =
        context_.StartProgress("SADH, codes", "steps", static_cast<uint64_t>(options_.codes.steps));
    for (int step = 0; step < options_.codes.steps; ++step) {
      context_.ThrowIfStopped();
      if (!solver.Step()) break;
      progress.Advance();
    }
    codes_ = SignsOfNumbers(solver.codes().cast<float>());
    return solver.Objective() / static_cast<double>(source_.size());
  }

  void LearnCodes() {
    const Index steps = options_.epochs * order_.batches_per_epoch();
    TrainingSummary unused;
    RunHeadSteps("SADH", steps, context_, unused, [&](Index step) {
      const std::span<const Index> samples = order_.Next();
      const MatrixF batch = vectors_.Read(samples, context_);
      const HeadLoss loss = ComputeCodeLoss(head_.Apply(batch), codes_(Eigen::all, samples));
      head_.Step({.rate = DroppedRate(options_.learning_rate, step, steps)}, batch, loss.gradient);
      return loss.loss;
    });
  }

  // tanh(Wx + c) of all samples.
  MatrixF Outputs() const {
    const EncodedVectors encoded =
        EncodeBatch(LinearEncoder(Encoder()), source_, context_.WithoutProgress());
    return encoded.projections.unaryExpr([](float value) { return std::tanh(value); });
  }

  const SimilarityAdaptiveHashOptions& options_;
  const ColumnSource& source_;
  const RunContext& context_;
  MatrixF codes_;    // B
  ViewScale scale_;  // after the codes, which refuse what cannot be learned from
  ScaledVectors vectors_;
  BatchOrder order_;
  LinearHead head_;
  MatrixF outputs_;  // of the layer after the last round; empty before the first
};

}  // namespace

void SimilarityAdaptiveHashOptions::Validate() const {
  RequireBits(bits);
  RequireHeadCount(rounds, 1, kSadh, "rounds");
  RequireHeadCount(epochs, 1, kSadh, "epochs");
  RequireHeadCount(batch, 1, kSadh, "batch");
  RequireHeadNumber(learning_rate, false, kSadh, "learning_rate");
  graph.Validate();
  codes.Validate();
}

HeadLoss ComputeCodeLoss(const MatrixF& outputs, const MatrixF& codes) {
  const MatrixF tanh = outputs.unaryExpr([](float z) { return std::tanh(z); });
  const MatrixF error = tanh - codes;
  const auto columns = static_cast<float>(outputs.cols());
  HeadLoss result;
  result.loss = static_cast<double>(error.squaredNorm() / columns);
  result.gradient = (2 / columns) * error.array() * (1 - tanh.array().square());
  return result;
}

Trained<HashModel> TrainSimilarityAdaptiveHash(const SimilarityAdaptiveHashOptions& options,
                                               const ColumnSource& vectors,
                                               const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  TrainingSummary summary{.samples = vectors.size()};
  AdaptiveTraining training(options, vectors, context);
  for (int round = 0; round < options.rounds; ++round) training.Iterate(summary);
  auto encoder = std::make_shared<LinearEncoder>(training.Encoder());
  LinearMap decoder = FitDecoder(*encoder, vectors, context);
  summary.seconds = watch.seconds();
  return {.model = {.method = "sadh", .encoder = std::move(encoder), .decoder = std::move(decoder)},
          .summary = std::move(summary)};
}

}  // namespace bitpool
