#pragma once

#include <stop_token>

#include "bitpool/base/random.h"
#include "bitpool/base/run_context.h"

// Shared by the tests of this room.
namespace bitpool {

// Samples around a few centres with directions of unequal variance, away from the origin.
inline MatrixF ClusteredSamples(Index dimension, Index count, uint64_t seed) {
  Random random(seed);
  const MatrixF centres = 3 * random.NormalMatrix(dimension, 7);
  MatrixF x = random.NormalMatrix(dimension, count);
  for (Index column = 0; column < count; ++column) {
    for (Index i = 0; i < dimension; ++i) x(i, column) /= 1 + 0.2F * static_cast<float>(i);
    x.col(column) += centres.col(static_cast<Index>(random.Below(7)));
  }
  x.array() += 5;
  return x;
}

// Asks for a stop once a task of this name has advanced this far.
class StopWhen : public ProgressSink {
 public:
  StopWhen(std::string task, uint64_t done, std::stop_source stop)
      : task_(std::move(task)), done_(done), stop_(std::move(stop)) {}

  void Report(const ProgressUpdate& update) override {
    if (update.task == task_ && update.done >= done_) stop_.request_stop();
  }

 private:
  std::string task_;
  uint64_t done_;
  std::stop_source stop_;
};

// A context that is stopped at that moment.
inline RunContext StoppedContext(std::string task, uint64_t done) {
  const std::stop_source stop;
  return RunContext({.threads = 2,
                     .seed = 1,
                     .stop = stop.get_token(),
                     .progress = std::make_shared<StopWhen>(std::move(task), done, stop)});
}

}  // namespace bitpool
