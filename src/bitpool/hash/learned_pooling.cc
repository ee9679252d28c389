#include "bitpool/hash/learned_pooling.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/hash/adam.h"
#include "bitpool/hash/contrast_loss.h"
#include "bitpool/hash/two_layer_gradient.h"
#include "bitpool/hash/view_batches.h"
#include "bitpool/hash/view_scale.h"
#include "bitpool/pool/simple_pooling.h"

namespace bitpool {
namespace {

constexpr uint64_t kPoolingBatches = 33;
constexpr size_t kPooledPerTask = 8;

std::span<float> NumbersOf(auto& numbers) {
  return {numbers.data(), static_cast<size_t>(numbers.size())};
}

// Numbers that Adam learns.
template <class Numbers>
struct Learned {
  Numbers values, mean, square;

  explicit Learned(Numbers start) : values(std::move(start)), mean(values), square(values) {
    mean.setZero();
    square.setZero();
  }

  void Step(const AdamStep& step, Numbers gradient, const RunContext& context) {
    TakeAdamStep(step,
                 {.values = NumbersOf(values),
                  .gradient = NumbersOf(gradient),
                  .mean = NumbersOf(mean),
                  .square = NumbersOf(square)},
                 context);
  }
};

void ReadDescriptors(const FeatureSet& features, bool normalise, Index image,
                     MatrixF& descriptors) {
  features.Read(image, descriptors);
  if (normalise && descriptors.cols() > 0) NormaliseColumns(descriptors);
}

class PoolingTraining {
 public:
  PoolingTraining(const LearnPoolingOptions& options, const FeatureSet& features,
                  const LinearMap& start, const RunContext& context)
      : options_(options),
        features_(features),
        start_(start),
        context_(context),
        attention_(VectorF::Zero(features.dimension())),
        log_mu_(VectorF::Constant(1, static_cast<float>(std::log(options.mu)))),
        weights_(MatrixF()),
        bias_(VectorF()) {}

  double mu() const { return std::exp(static_cast<double>(log_mu_.values[0])); }
  const VectorF& attention() const { return attention_.values; }

  // The loss before the step.
  double Step(const ViewPairs& images, int done) {
    const PoolingSystem system(Coupling::None(features_.dimension()),
                               {.mu = mu(), .tolerance = options_.tolerance}, attention());
    const PooledBatch batch = Pool(system, images);
    if (done == 0) Begin(batch.vectors);
    const VectorF mean =
        batch.vectors *
        VectorF::Constant(batch.vectors.cols(), 1.0F / static_cast<float>(batch.vectors.cols()));
    const MatrixF scaled = (batch.vectors.colwise() - mean) / unit_;
    const TwoLayerMap map = {.linear = {.weights = weights_.values, .bias = bias_.values},
                             .hidden = {.weights = MatrixF(0, scaled.rows()), .bias = VectorF(0)},
                             .output = MatrixF(weights_.values.rows(), 0)};
    const TwoLayerOutput output = ApplyMap(map, scaled, context_);
    const ContrastLoss loss = ComputeContrastLoss(output.projections, options_.temperature,
                                                  ContrastCodes::kSigns, context_);
    const TwoLayerMap slopes = GradientOfMap(map, scaled, output, loss.gradient, context_);
    const PoolingGradient of_pooling =
        GradientOfPooling(system, batch, weights_.values, unit_, loss.gradient, context_);
    Move(slopes.linear, of_pooling, done);
    return loss.loss;
  }

 private:
  // Hash functions in the scale of the first vectors.
  void Begin(const MatrixF& vectors) {
    const ViewScale scale = MeasureViews(MatrixColumns(vectors), start_, context_);
    const LinearMap map = ScaledStart(scale, start_);
    weights_ = Learned<MatrixF>(map.weights);
    bias_ = Learned<VectorF>(map.bias);
    unit_ = static_cast<float>(scale.unit);
  }

  // The images of a step that could be pooled, two of every picture one after the other.
  PooledBatch Pool(const PoolingSystem& system, const ViewPairs& images) const {
    MatrixF vectors(features_.dimension(), static_cast<Index>(images.size()));
    std::vector<uint8_t> failed(images.size(), 0);
    context_.ParallelFor(images.size(), kPooledPerTask, [&](size_t begin, size_t end) {
      MatrixF descriptors;
      for (size_t i = begin; i < end; ++i) {
        try {
          ReadDescriptors(features_, options_.normalise, images[i], descriptors);
          vectors.col(static_cast<Index>(i)) = system.Pool(descriptors);
        } catch (const Error& error) {
          if (error.code() != ErrorCode::kInvalidArgument) throw;
          failed[i] = 1;
        }
      }
    });
    PooledBatch batch{
        .features = features_, .normalise = options_.normalise, .images = {}, .vectors = {}};
    std::vector<Index> kept;
    for (size_t i = 0; i < images.size(); ++i) {
      if (failed[i] != 0 || failed[i ^ 1] != 0) continue;
      kept.push_back(static_cast<Index>(i));
      batch.images.push_back(images[i]);
    }
    if (kept.size() < 4) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("local features of {} pictures, of which {} can be pooled: the "
                              "contrast needs at least 2",
                              images.size() / 2, kept.size() / 2));
    }
    batch.vectors = GatherColumns(MatrixColumns(vectors), kept);
    return batch;
  }

  void Move(const LinearMap& of_map, const PoolingGradient& of_pooling, int done) {
    const auto step = [&](double rate) {
      return AdamStep{.number = done + 1, .rate = CosineRate(rate, done, options_.steps)};
    };
    weights_.Step(step(options_.map_rate), of_map.weights, context_);
    bias_.Step(step(options_.map_rate), of_map.bias, context_);
    attention_.Step(step(options_.attention_rate), of_pooling.attention.cast<float>(), context_);
    log_mu_.Step(step(options_.mu_rate),
                 VectorF::Constant(1, static_cast<float>(of_pooling.log_mu)), context_);
  }

  const LearnPoolingOptions& options_;
  const FeatureSet& features_;
  const LinearMap& start_;
  const RunContext& context_;
  Learned<VectorF> attention_, log_mu_;
  Learned<MatrixF> weights_;  // of vectors with the mean removed, divided by the unit
  Learned<VectorF> bias_;
  float unit_ = 1;
};

// The batches of all steps: those of epochs one after the other.
std::vector<ViewPairs> DrawSteps(const LearnPoolingOptions& options, Index pictures,
                                 Index per_picture, const RunContext& context) {
  const Random random = context.MakeRandom(kPoolingBatches);
  std::vector<ViewPairs> steps;
  for (uint64_t epoch = 0; static_cast<int>(steps.size()) < options.steps; ++epoch) {
    for (ViewPairs& batch :
         DrawViewPairs(pictures, per_picture, options.batch, random.Fork(epoch))) {
      if (static_cast<int>(steps.size()) < options.steps) steps.push_back(std::move(batch));
    }
  }
  return steps;
}

}  // namespace

void LearnPoolingOptions::Validate() const {
  RequireOption(temperature >= kLeastTemperature && std::isfinite(temperature),
                "temperature of the learned pooling", fmt::format("{} or more", kLeastTemperature),
                temperature);
  RequirePositive(mu, "mu of the learned pooling");
  RequirePositive(map_rate, "learning rate of the map of the learned pooling");
  RequirePositive(attention_rate, "learning rate of the attention of the learned pooling");
  RequirePositive(mu_rate, "learning rate of mu of the learned pooling");
  RequirePositive(tolerance, "tolerance of the learned pooling");
  if (steps < 1 || batch < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("learned pooling: expected at least 1 step of at least 2 pictures, got "
                            "{} of {}",
                            steps, batch));
  }
}

PoolingGradient GradientOfPooling(const PoolingSystem& system, const PooledBatch& batch,
                                  const MatrixF& weights, float unit, const MatrixF& gradient,
                                  const RunContext& context) {
  // Through the mean, which every vector has a share in.
  const VectorF sum = gradient * VectorF::Ones(gradient.cols());
  const MatrixF own = gradient.colwise() - sum / static_cast<float>(gradient.cols());
  const MatrixF of_vectors = weights.transpose() * own / unit;
  PoolingGradient all{.attention = VectorD::Zero(system.dimension())};
  context.pool().OrderedReduce(
      batch.images.size(), kPooledPerTask, all,
      [&](PoolingGradient& part, size_t begin, size_t end) {
        context.ThrowIfStopped();
        part = {.attention = VectorD::Zero(system.dimension())};
        MatrixF descriptors;
        for (size_t i = begin; i < end; ++i) {
          ReadDescriptors(batch.features, batch.normalise, batch.images[i], descriptors);
          const auto column = static_cast<Index>(i);
          const PoolingGradient one =
              system.Gradient(descriptors, batch.vectors.col(column), of_vectors.col(column));
          part.attention += one.attention;
          part.log_mu += one.log_mu;
        }
      },
      [&](const PoolingGradient& part) {
        all.attention += part.attention;
        all.log_mu += part.log_mu;
      });
  return all;
}

LearnedPooling LearnPooling(const LearnPoolingOptions& options, const FeatureSet& features,
                            Index per_picture, const LinearMap& start, const RunContext& context) {
  options.Validate();
  RequireViews(features.size(), per_picture);
  if (LinearEncoder(start).dimension() != features.dimension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("start of the learned pooling: expected a map of dimension {}, got {}",
                            features.dimension(), start.weights.cols()));
  }
  PoolingTraining training(options, features, start, context);
  LearnedPooling learned;
  Progress progress =
      context.StartProgress("learning to pool", "steps", static_cast<uint64_t>(options.steps));
  for (const ViewPairs& images :
       DrawSteps(options, features.size() / per_picture, per_picture, context)) {
    try {
      learned.losses.push_back(training.Step(images, static_cast<int>(learned.losses.size())));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCancelled || learned.losses.empty()) throw;
      learned.interrupted = true;
      break;
    }
    progress.Advance(1,
                     fmt::format("loss {:.4f}, mu {:.3g}", learned.losses.back(), training.mu()));
  }
  learned.recipe = {
      .normalise = options.normalise, .mu = training.mu(), .attention = training.attention()};
  return learned;
}

}  // namespace bitpool
