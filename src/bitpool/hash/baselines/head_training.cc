#include "bitpool/hash/baselines/head_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/base/stopwatch.h"

namespace bitpool {
namespace {

constexpr Index kRecords = 10;  // of a run of steps

template <class Values>
void Descend(const MomentumStep& step, double decay, const Values& gradient, Values& velocity,
             Values& values) {
  const auto rate = static_cast<float>(step.rate);
  const auto shrink = static_cast<float>(step.rate * decay);
  velocity = static_cast<float>(step.momentum) * velocity - rate * gradient - shrink * values;
  values += velocity;
}

}  // namespace

ViewScale MeasureForHead(const ColumnSource& vectors, const RunContext& context) {
  if (vectors.size() < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} training samples: expected at least 2", vectors.size()));
  }
  const LinearMap nothing{.weights = MatrixF(0, vectors.dimension()), .bias = VectorF(0)};
  ViewScale scale = MeasureViews(vectors, nothing, context);
  scale.unit *=
      kScaledDeviation * std::sqrt(static_cast<double>(vectors.dimension()) / kHeadSquaredLength);
  return scale;
}

BatchOrder::BatchOrder(Index count, Index batch, Random random)
    : order_(static_cast<size_t>(count)),
      batch_(static_cast<size_t>(std::min(count, batch))),
      next_(order_.size()),
      random_(random) {
  std::iota(order_.begin(), order_.end(), Index{0});
}

std::span<const Index> BatchOrder::Next() {
  if (next_ + batch_ > order_.size()) {
    random_.Shuffle(order_);
    next_ = 0;
  }
  const size_t first = next_;
  next_ += batch_;
  return std::span(order_).subspan(first, batch_);
}

LinearHead::LinearHead(Index outputs, Index inputs, double deviation, double bias, Random random)
    : map_{.weights = static_cast<float>(deviation) * random.NormalMatrix(outputs, inputs),
           .bias = VectorF::Constant(outputs, static_cast<float>(bias))},
      velocity_{.weights = MatrixF::Zero(outputs, inputs), .bias = VectorF::Zero(outputs)} {}

MatrixF LinearHead::Apply(const MatrixF& batch) const {
  MatrixF outputs(map_.weights.rows(), batch.cols());
  outputs.noalias() = map_.weights * batch;
  outputs.colwise() += map_.bias;
  return outputs;
}

void LinearHead::Step(const MomentumStep& step, const MatrixF& batch, const MatrixF& gradient) {
  MatrixF weights(map_.weights.rows(), map_.weights.cols());
  weights.noalias() = gradient * batch.transpose();
  Descend(step, step.weight_decay, weights, velocity_.weights, map_.weights);
  const VectorF bias = gradient.rowwise().sum();
  Descend(step, 0, bias, velocity_.bias, map_.bias);
}

void RunHeadSteps(const std::string& task, Index count, const RunContext& context,
                  TrainingSummary& summary, const std::function<double(Index)>& step) {
  Progress progress = context.StartProgress(task, "steps", static_cast<uint64_t>(count));
  Index done = 0;
  for (Index record = 1; record <= kRecords; ++record) {
    const Index end = count * record / kRecords;
    if (end == done) continue;
    const Stopwatch watch;
    const Index begin = done;
    double loss = 0;
    for (; done < end; ++done) {
      context.ThrowIfStopped();
      loss += step(done);
      progress.Advance();
    }
    if (!std::isfinite(loss)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{}: the loss is no longer a finite number; expected a smaller "
                              "learning rate",
                              task));
    }
    TrainingIteration iteration;
    iteration.objective = loss / static_cast<double>(end - begin);
    iteration.seconds = watch.seconds();
    summary.iterations.push_back(iteration);
  }
}

double DroppedRate(double rate, Index step, Index count) {
  return 2 * step < count ? rate : rate / 10;
}

void RequireHeadCount(Index value, Index least, const char* method, const char* option) {
  RequireAtLeast(least, value, fmt::format("{} of {}", option, method));
}

void RequireHeadNumber(double value, bool zero_is_good, const char* method, const char* option) {
  RequireOption(std::isfinite(value) && (value > 0 || (zero_is_good && value == 0)),
                fmt::format("{} of {}", option, method),
                zero_is_good ? "a finite number of at least 0" : "a finite number above 0", value);
}

}  // namespace bitpool
