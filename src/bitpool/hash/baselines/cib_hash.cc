#include "bitpool/hash/baselines/cib_hash.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/adam.h"
#include "bitpool/hash/contrast_loss.h"
#include "bitpool/hash/scaled_vectors.h"
#include "bitpool/hash/two_layer_encoder.h"
#include "bitpool/hash/two_layer_gradient.h"
#include "bitpool/hash/view_batches.h"

namespace bitpool {
namespace {

constexpr const char* kCibHash = "CIBHash";
constexpr uint64_t kCibHashWeights = 1, kCibHashBatches = 2;

float Sigmoid(float z) { return 1 / (1 + std::exp(-z)); }

template <class Numbers>
std::span<float> SpanOf(Numbers& numbers) {
  return {numbers.data(), static_cast<size_t>(numbers.size())};
}

// Uniform between ±1/√inputs.
MatrixF RandomWeights(Index outputs, Index inputs, Random& random) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  return MatrixF::NullaryExpr(
      outputs, inputs, [&] { return static_cast<float>(bound * (2 * random.Uniform() - 1)); });
}

class CibTraining {
 public:
  CibTraining(const CibHashOptions& options, const ViewVectors& images, const ViewScale& scale,
              const RunContext& context)
      : options_(options),
        images_(images),
        context_(context),
        vectors_(images.vectors, scale, options.memory) {
    Random random = context.MakeRandom(kCibHashWeights);
    const Index dimension = images.vectors.dimension();
    map_.linear = {.weights = MatrixF::Zero(options.bits, dimension),
                   .bias = VectorF::Zero(options.bits)};
    map_.hidden = {.weights = RandomWeights(options.hidden, dimension, random),
                   .bias = VectorF::Zero(options.hidden)};
    map_.output = RandomWeights(options.bits, options.hidden, random);
    mean_ = square_ = ZeroMapLike(map_);
  }

  void Run(TrainingSummary& summary) {
    const Index batches = BatchesOf(images_.pictures(), options_.batch);
    std::vector<ViewPairs> pairs;
    RunHeadSteps("CIBHash", options_.epochs * batches, context_, summary, [&](Index step) {
      if (step % batches == 0) {
        pairs = DrawViewPairs(
            images_.pictures(), images_.per_picture, options_.batch,
            context_.MakeRandom(kCibHashBatches).Fork(static_cast<uint64_t>(step / batches)));
      }
      return Step(pairs[static_cast<size_t>(step % batches)], step);
    });
  }

  TwoLayerMap Encoder(const ViewScale& scale) const {
    return {.linear = map_.linear, .hidden = Unscaled(scale, map_.hidden), .output = map_.output};
  }

 private:
  // The loss before the step.
  double Step(const ViewPairs& images, Index done) {
    const MatrixF batch = vectors_.Read(images, context_);
    const TwoLayerOutput output = ApplyMap(map_, batch, context_);
    const HeadLoss loss =
        ComputeCibLoss(output.projections, options_.temperature, options_.divergence, context_);
    TwoLayerMap gradient = GradientOfMap(map_, batch, output, loss.gradient, context_);
    const AdamStep step{.number = done + 1, .rate = options_.learning_rate};
    const auto take = [&](auto& values, auto& slope, auto& mean, auto& square) {
      TakeAdamStep(step,
                   {.values = SpanOf(values),
                    .gradient = SpanOf(slope),
                    .mean = SpanOf(mean),
                    .square = SpanOf(square)},
                   context_);
    };
    // There is no linear map beside the hidden layer: its weights stay zero.
    take(map_.linear.bias, gradient.linear.bias, mean_.linear.bias, square_.linear.bias);
    take(map_.hidden.weights, gradient.hidden.weights, mean_.hidden.weights,
         square_.hidden.weights);
    take(map_.hidden.bias, gradient.hidden.bias, mean_.hidden.bias, square_.hidden.bias);
    take(map_.output, gradient.output, mean_.output, square_.output);
    return loss.loss;
  }

  const CibHashOptions& options_;
  const ViewVectors& images_;
  const RunContext& context_;
  ScaledVectors vectors_;
  TwoLayerMap map_;
  TwoLayerMap mean_, square_;  // what Adam remembers of the gradients
};

}  // namespace

void CibHashOptions::Validate() const {
  RequireBits(bits);
  RequireHeadCount(hidden, 1, kCibHash, "hidden");
  RequireHeadCount(epochs, 1, kCibHash, "epochs");
  RequireHeadCount(batch, 2, kCibHash, "batch");
  RequireHeadNumber(divergence, true, kCibHash, "divergence");
  RequireHeadNumber(learning_rate, false, kCibHash, "learning_rate");
  if (!(temperature >= kLeastTemperature && std::isfinite(temperature))) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("temperature of {}: expected {} or more, got {}", kCibHash,
                            kLeastTemperature, temperature));
  }
}

// The contrast of z/2 has the slope 1 − tanh²(z/2) of its codes, which is 4σ(z)(1 − σ(z)).
HeadLoss ComputeCibLoss(const MatrixF& outputs, double temperature, double divergence,
                        const RunContext& context) {
  const ContrastLoss contrast =
      ComputeContrastLoss(0.5F * outputs, temperature, ContrastCodes::kSigns, context);
  HeadLoss result{.loss = contrast.loss, .gradient = 0.25F * contrast.gradient};
  const MatrixF p = outputs.unaryExpr(&Sigmoid);
  const auto weight = static_cast<float>(divergence / static_cast<double>(outputs.cols()));
  double sum = 0;
  for (Index first = 0; first < outputs.cols(); first += 2) {
    const Eigen::ArrayXf apart = outputs.col(first) - outputs.col(first + 1);
    const Eigen::ArrayXf differ = p.col(first) - p.col(first + 1);
    sum += static_cast<double>((apart * differ).sum());
    const auto slope = [&](Index column) -> VectorF {
      const auto own = p.col(column).array();
      return own * (1 - own) * apart + differ;
    };
    result.gradient.col(first) += weight * slope(first);
    result.gradient.col(first + 1) -= weight * slope(first + 1);
  }
  result.loss += divergence * sum / static_cast<double>(outputs.cols());
  return result;
}

Trained<HashModel> TrainCibHash(const CibHashOptions& options, const ViewVectors& images,
                                const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  RequireViews(images.vectors.size(), images.per_picture);
  const LinearMap nothing{.weights = MatrixF(0, images.vectors.dimension()), .bias = VectorF(0)};
  const ViewScale scale = MeasureViews(images.vectors, nothing, context);
  TrainingSummary summary{.samples = images.vectors.size()};
  CibTraining training(options, images, scale, context);
  training.Run(summary);
  auto encoder = std::make_shared<TwoLayerEncoder>(training.Encoder(scale));
  LinearMap decoder = FitDecoder(*encoder, images.vectors, context);
  summary.seconds = watch.seconds();
  return {
      .model = {.method = "cibhash", .encoder = std::move(encoder), .decoder = std::move(decoder)},
      .summary = std::move(summary)};
}

}  // namespace bitpool
