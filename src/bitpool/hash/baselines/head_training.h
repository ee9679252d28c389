#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/view_scale.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/ridge.h"

// What the methods share that learn only the last layers of a network, in small batches. The
// vectors are the output of the rest, which stays as it is.
namespace bitpool {

// Mean squared length of vectors as these methods scale them. The learning rates are those that
// authors chose for activations of their network; in this scale a step of them is small at any
// dimension.
inline constexpr double kHeadSquaredLength = 100;

// For methods whose bits are 0 and 1: the middle between the two, and how far from it outputs are
// at first. That is half as far as a bit is, so that no unit is dead.
inline constexpr float kBitMiddle = 0.5F;
inline constexpr double kFirstBitDeviation = 0.25;

// Throws kInvalidArgument for fewer than two vectors, for vectors that are not finite, naming the
// column, and for vectors that are all alike.
ViewScale MeasureForHead(const ColumnSource& vectors, const RunContext& context);

// Samples in random order, batch by batch; all have been in one before any comes again. What is
// left of an epoch is not used when it is less than a batch.
class BatchOrder {
 public:
  // A batch has at most `count` samples. REQUIRES: count >= 1, batch >= 1
  BatchOrder(Index count, Index batch, Random random);

  std::span<const Index> Next();  // valid until the next call
  Index batches_per_epoch() const { return static_cast<Index>(order_.size() / batch_); }

 private:
  std::vector<Index> order_;
  size_t batch_;
  size_t next_;
  Random random_;
};

// A loss of a batch with its gradient with respect to the outputs of a layer.
struct HeadLoss {
  double loss = 0;
  MatrixF gradient;
};

// A step of gradient descent with momentum: v ← momentum·v − rate·(g + decay·w), w ← w + v. Biases
// do not decay.
struct MomentumStep {
  double rate = 1e-3;
  double momentum = 0.9;
  double weight_decay = 5e-4;
};

// A linear layer and the momentum of its weights.
class LinearHead {
 public:
  // Random weights with this deviation, and one bias for all.
  LinearHead(Index outputs, Index inputs, double deviation, double bias, Random random);

  const LinearMap& map() const { return map_; }
  MatrixF Apply(const MatrixF& batch) const;
  // `gradient` is with respect to what Apply gave for the batch.
  void Step(const MomentumStep& step, const MatrixF& batch, const MatrixF& gradient);

 private:
  LinearMap map_;
  LinearMap velocity_;
};

// Calls step(number), which returns the loss before the step, `count` times. Reports progress as
// steps of `task`, stops when asked to, and adds ten records to the summary with the mean loss of a
// tenth of the steps each. Throws kInvalidArgument when these are not finite.
void RunHeadSteps(const std::string& task, Index count, const RunContext& context,
                  TrainingSummary& summary, const std::function<double(Index)>& step);

// A rate that is divided by ten after half of the steps.
double DroppedRate(double rate, Index step, Index count);

// Throw kInvalidArgument, naming the option of the method.
void RequireHeadCount(Index value, Index least, const char* method, const char* option);
void RequireHeadNumber(double value, bool zero_is_good, const char* method, const char* option);

}  // namespace bitpool
