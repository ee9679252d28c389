#include "bitpool/hash/baselines/deep_bit.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/baselines/head_training.h"
#include "bitpool/hash/scaled_vectors.h"
#include "bitpool/hash/view_columns.h"

namespace bitpool {
namespace {

constexpr const char* kDeepBit = "DeepBit";
constexpr uint64_t kDeepBitWeights = 1, kDeepBitBatches = 2, kDeepBitViews = 3;
constexpr size_t kDeepBitColumns = 1024;

// The images of the pictures with these numbers.
std::vector<Index> ImagesOf(std::span<const Index> pictures, Index per_picture, Index count) {
  std::vector<Index> images;
  for (const Index picture : pictures) {
    for (Index i = 0; i < count; ++i) images.push_back(picture * per_picture + i);
  }
  return images;
}

// Both stages, one after the other.
class DeepBitTraining {
 public:
  DeepBitTraining(const DeepBitOptions& options, const ViewVectors& images, const ViewScale& scale,
                  const RunContext& context)
      : options_(options),
        images_(images),
        context_(context),
        vectors_(images.vectors, scale, options.memory),
        head_(options.bits, images.vectors.dimension(),
              kFirstBitDeviation / std::sqrt(kHeadSquaredLength), kBitMiddle,
              context.MakeRandom(kDeepBitWeights)) {}

  void LearnFromPictures(TrainingSummary& summary) {
    BatchOrder order(images_.pictures(), options_.batch, context_.MakeRandom(kDeepBitBatches));
    RunHeadSteps("DeepBit", options_.steps, context_, summary, [&](Index step) {
      const double rate = DroppedRate(options_.learning_rate, step, options_.steps);
      return Step(ImagesOf(order.Next(), images_.per_picture, 1), 1, rate);
    });
  }

  void LearnFromViews(TrainingSummary& summary) {
    const Index per_picture = images_.per_picture;
    BatchOrder order(images_.pictures(), options_.view_batch, context_.MakeRandom(kDeepBitViews));
    RunHeadSteps("DeepBit, views", options_.view_steps, context_, summary, [&](Index) {
      return Step(ImagesOf(order.Next(), per_picture, per_picture), per_picture,
                  options_.view_rate);
    });
  }

  const LinearMap& map() const { return head_.map(); }

 private:
  // The loss before the step.
  double Step(const std::vector<Index>& images, Index per_picture, double rate) {
    const MatrixF batch = vectors_.Read(images, context_);
    const HeadLoss loss = ComputeDeepBitLoss(head_.Apply(batch), per_picture, options_.view_weight);
    head_.Step({.rate = rate}, batch, loss.gradient);
    return loss.loss;
  }

  const DeepBitOptions& options_;
  const ViewVectors& images_;
  const RunContext& context_;
  ScaledVectors vectors_;
  LinearHead head_;
};

// The mean of max(0, Wx + c) over all bits and vectors.
double MeanOutput(const LinearMap& map, const ColumnSource& vectors, const RunContext& context) {
  const LinearEncoder encoder(map);
  double sum = 0;
  context.pool().OrderedReduce(
      static_cast<size_t>(vectors.size()), kDeepBitColumns, 0.0,
      [&](double& part, size_t begin, size_t end) {
        context.ThrowIfStopped();
        MatrixF buffer;
        const ColumnsView block =
            vectors.Read(static_cast<Index>(begin), static_cast<Index>(end - begin), buffer);
        part = encoder.Project(block).cwiseMax(0.0F).cast<double>().sum();
      },
      [&](double part) { sum += part; });
  return sum / static_cast<double>(vectors.size() * map.weights.rows());
}

}  // namespace

void DeepBitOptions::Validate() const {
  RequireBits(bits);
  RequireHeadCount(steps, 1, kDeepBit, "steps");
  RequireHeadCount(batch, 1, kDeepBit, "batch");
  RequireHeadCount(view_steps, 0, kDeepBit, "view_steps");
  RequireHeadCount(view_batch, 1, kDeepBit, "view_batch");
  RequireHeadNumber(learning_rate, false, kDeepBit, "learning_rate");
  RequireHeadNumber(view_rate, false, kDeepBit, "view_rate");
  RequireHeadNumber(view_weight, true, kDeepBit, "view_weight");
}

HeadLoss ComputeDeepBitLoss(const MatrixF& outputs, Index per_picture, double view_weight) {
  const MatrixF f = outputs.cwiseMax(0.0F);
  const auto columns = static_cast<float>(f.cols());
  const VectorF uneven = f.rowwise().mean().array() - kBitMiddle;
  const MatrixF error = f - (f.array() > kBitMiddle).cast<float>().matrix();
  HeadLoss result;
  result.loss = static_cast<double>(uneven.squaredNorm() + error.squaredNorm() / columns);
  result.gradient = (2 / columns) * (error.colwise() + uneven);
  if (per_picture > 1) {
    // The mean of exp(−k²/2) over k = −2, −1, 1, 2.
    const double weight = (std::exp(-0.5) + std::exp(-2)) / 2 * view_weight;
    const auto factor = static_cast<float>(2 * weight) / columns;
    for (Index picture = 0; picture < f.cols(); picture += per_picture) {
      for (Index view = picture + 1; view < picture + per_picture; ++view) {
        const VectorF apart = f.col(view) - f.col(picture);
        result.loss += weight * static_cast<double>(apart.squaredNorm() / columns);
        result.gradient.col(view) += factor * apart;
        result.gradient.col(picture) -= factor * apart;
      }
    }
  }
  result.gradient = (outputs.array() > 0).select(result.gradient, 0.0F);
  return result;
}

Trained<HashModel> TrainDeepBit(const DeepBitOptions& options, const ViewVectors& images,
                                const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  const ViewScale scale = MeasureForHead(images.vectors, context);
  TrainingSummary summary{.samples = images.vectors.size()};
  DeepBitTraining training(options, images, scale, context);
  training.LearnFromPictures(summary);
  if (images.per_picture > 1) training.LearnFromViews(summary);
  LinearMap map = Unscaled(scale, training.map());
  map.bias.array() -= static_cast<float>(MeanOutput(map, images.vectors, context));
  auto encoder = std::make_shared<LinearEncoder>(std::move(map));
  LinearMap decoder = FitDecoder(*encoder, images.vectors, context);
  summary.seconds = watch.seconds();
  return {
      .model = {.method = "deepbit", .encoder = std::move(encoder), .decoder = std::move(decoder)},
      .summary = std::move(summary)};
}

}  // namespace bitpool
