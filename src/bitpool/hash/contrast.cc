#include "bitpool/hash/contrast.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/adam.h"
#include "bitpool/hash/contrast_loss.h"
#include "bitpool/hash/scaled_vectors.h"
#include "bitpool/hash/two_layer_gradient.h"
#include "bitpool/hash/view_batches.h"
#include "bitpool/hash/view_scale.h"

namespace bitpool {
namespace {

constexpr uint64_t kBatchStream = 31;
constexpr uint64_t kHiddenStream = 32;

std::array<MatrixF*, 3> WeightsOf(TwoLayerMap& map) {
  return {&map.linear.weights, &map.hidden.weights, &map.output};
}
std::array<VectorF*, 2> BiasesOf(TwoLayerMap& map) { return {&map.linear.bias, &map.hidden.bias}; }

template <class Numbers>
std::span<float> SpanOf(Numbers& numbers) {
  return {numbers.data(), static_cast<size_t>(numbers.size())};
}

// One epoch after the other; knows the vectors and the constants.
class ContrastTraining {
 public:
  ContrastTraining(const ContrastOptions& options, const ViewVectors& views, const ViewScale& scale,
                   const RunContext& context)
      : options_(options),
        views_(views),
        reader_(views.vectors, scale, options.memory),
        batches_(BatchesOf(views.pictures(), options.batch)),
        context_(context) {}

  // The state after one epoch more.
  ContrastState Iterate(ContrastState state) const {
    const Stopwatch watch;
    const auto epoch = static_cast<int64_t>(state.iterations.size());
    const std::vector<ViewPairs> batches =
        DrawViewPairs(views_.pictures(), views_.per_picture, options_.batch,
                      context_.MakeRandom(kBatchStream).Fork(static_cast<uint64_t>(epoch)));
    double loss = 0;
    int64_t step = epoch * batches_;
    for (const ViewPairs& images : batches) {
      loss += static_cast<double>(images.size()) * Step(images, step++, state);
    }
    TrainingIteration record;
    record.objective = loss / static_cast<double>(2 * views_.pictures());
    record.seconds = watch.seconds();
    state.iterations.push_back(record);
    return state;
  }

 private:
  // The loss before the step.
  double Step(const ViewPairs& images, int64_t done, ContrastState& state) const {
    const MatrixF batch = reader_.Read(images, context_);
    const TwoLayerOutput output = ApplyMap(state.map, batch, context_);
    const ContrastLoss loss = ComputeContrastLoss(output.projections, options_.temperature,
                                                  ContrastCodes::kSigns, context_);
    TwoLayerMap gradient = GradientOfMap(state.map, batch, output, loss.gradient, context_);
    const AdamStep step = {
        .number = done + 1,
        .rate = CosineRate(options_.learning_rate, done, batches_ * options_.epochs),
        .weight_decay = options_.weight_decay};
    const auto take = [&](const auto& values, const auto& gradients, const auto& means,
                          const auto& squares, bool decays) {
      for (size_t i = 0; i < values.size(); ++i) {
        TakeAdamStep(step,
                     {.values = SpanOf(*values[i]),
                      .gradient = SpanOf(*gradients[i]),
                      .mean = SpanOf(*means[i]),
                      .square = SpanOf(*squares[i]),
                      .decays = decays},
                     context_);
      }
    };
    take(WeightsOf(state.map), WeightsOf(gradient), WeightsOf(state.mean), WeightsOf(state.square),
         true);
    take(BiasesOf(state.map), BiasesOf(gradient), BiasesOf(state.mean), BiasesOf(state.square),
         false);
    return loss.loss;
  }

  const ContrastOptions& options_;
  const ViewVectors& views_;
  ScaledVectors reader_;
  int64_t batches_;  // of an epoch
  const RunContext& context_;
};

// W₁ has random directions, in which scaled vectors have about deviation one.
ContrastState StartingState(const ContrastOptions& options, const ViewScale& scale,
                            const LinearMap& start, const RunContext& context) {
  ContrastState state;
  state.map.linear = ScaledStart(scale, start);
  const Index dimension = start.weights.cols();
  Random random = context.MakeRandom(kHiddenStream);
  const auto deviation = static_cast<float>(1 / (std::sqrt(dimension) * kScaledDeviation));
  state.map.hidden = {.weights = deviation * random.NormalMatrix(options.hidden, dimension),
                      .bias = VectorF::Zero(options.hidden)};
  state.map.output = MatrixF::Zero(start.weights.rows(), options.hidden);
  state.mean = state.square = ZeroMapLike(state.map);
  return state;
}

bool SameSizes(const TwoLayerMap& map, Index bits, Index dimension, Index hidden) {
  return map.bits() == bits && map.dimension() == dimension && map.linear.bias.size() == bits &&
         map.hidden_units() == hidden && map.hidden.weights.cols() == dimension &&
         map.hidden.bias.size() == hidden && map.output.rows() == bits &&
         map.output.cols() == hidden;
}

// A state that was stored may be that of another training.
void RequireSameTraining(const ContrastOptions& options, const LinearMap& start,
                         const ContrastState& state) {
  const Index bits = start.weights.rows();
  const Index dimension = start.weights.cols();
  for (const TwoLayerMap* map : {&state.map, &state.mean, &state.square}) {
    if (SameSizes(*map, bits, dimension, options.hidden)) continue;
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the training to resume is of {} bits, dimension {} and {} hidden units; "
                    "expected {} bits, dimension {} and {} hidden units",
                    map->bits(), map->dimension(), map->hidden_units(), bits, dimension,
                    options.hidden));
  }
}

void RequireStart(const LinearMap& start, Index dimension) {
  const LinearEncoder checked(start);
  if (start.weights.cols() == dimension) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("start of the contrast: expected a map of dimension {}, got {}",
                          dimension, start.weights.cols()));
}

std::shared_ptr<const HashEncoder> EncoderOf(const ViewScale& scale, const TwoLayerMap& map) {
  LinearMap linear = Unscaled(scale, map.linear);
  if (map.hidden_units() == 0) return std::make_shared<LinearEncoder>(std::move(linear));
  return std::make_shared<TwoLayerEncoder>(TwoLayerMap{
      .linear = std::move(linear), .hidden = Unscaled(scale, map.hidden), .output = map.output});
}

}  // namespace

void ContrastOptions::Validate() const {
  RequireOption(temperature >= kLeastTemperature && std::isfinite(temperature),
                "temperature of the contrast", fmt::format("{} or more", kLeastTemperature),
                temperature);
  RequireAtLeast(1, epochs, "epochs of the contrast");
  RequireAtLeast(2, batch, "batch of the contrast");
  RequireAtLeast(0, hidden, "hidden units of the contrast");
  RequirePositive(learning_rate, "learning rate of the contrast");
  if (!(weight_decay >= 0 && weight_decay * learning_rate < 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("weight decay of the contrast: expected 0 or more, and less than 1 "
                            "times the learning rate, got {}",
                            weight_decay));
  }
}

Trained<HashModel> TrainContrast(const ContrastOptions& options, const ViewVectors& views,
                                 const LinearMap& start, const RunContext& context,
                                 ContrastRun run) {
  options.Validate();
  const Stopwatch watch;
  RequireViews(views.vectors.size(), views.per_picture);
  RequireStart(start, views.vectors.dimension());
  const ViewScale scale = MeasureViews(views.vectors, start, context);
  if (run.resume) RequireSameTraining(options, start, *run.resume);
  ContrastState state =
      run.resume ? *std::move(run.resume) : StartingState(options, scale, start, context);
  const ContrastTraining training(options, views, scale, context);
  TrainingSummary summary{.samples = views.vectors.size()};
  Progress progress =
      context.StartProgress("contrast", "epochs", static_cast<uint64_t>(options.epochs));
  progress.Advance(state.iterations.size());
  while (static_cast<int>(state.iterations.size()) < options.epochs) {
    try {
      state = training.Iterate(state);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCancelled || state.iterations.empty()) throw;
      summary.interrupted = true;
      break;
    }
    if (run.observer) run.observer(state);
    progress.Advance(1, fmt::format("loss {:.4f}", state.iterations.back().objective));
  }
  HashModel model{.method = "sav", .encoder = EncoderOf(scale, state.map), .decoder = {}};
  model.decoder =
      FitDecoder(*model.encoder, views.vectors, context.WithoutStop().WithoutProgress());
  summary.iterations = std::move(state.iterations);
  summary.seconds = watch.seconds();
  return {.model = std::move(model), .summary = std::move(summary)};
}

}  // namespace bitpool
