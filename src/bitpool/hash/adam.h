#pragma once

#include <cstdint>
#include <span>

#include "bitpool/base/run_context.h"

namespace bitpool {

// Some numbers that are learned, and what Adam remembers of their gradients. All spans have the
// same size.
struct AdamParameters {
  std::span<float> values;
  std::span<const float> gradient;
  std::span<float> mean;    // of the gradients, decaying exponentially
  std::span<float> square;  // of their squares
  bool decays = true;       // false for what the weight decay leaves alone, such as biases
};

struct AdamStep {
  int64_t number = 1;       // of the step, counted from 1
  double rate = 1e-3;       // the learning rate of this step
  double weight_decay = 0;  // share of a weight that is taken away, × rate
};

// A step of Adam with decoupled weight decay (Loshchilov and Hutter, ICLR 2019), with the usual
// β₁ = 0.9, β₂ = 0.999 and ε = 1e-8.
void TakeAdamStep(const AdamStep& step, const AdamParameters& parameters,
                  const RunContext& context);

// The learning rate of step `done` + 1 of `total`: falls from `rate` to almost zero along half a
// cosine.
double CosineRate(double rate, int64_t done, int64_t total);

}  // namespace bitpool
