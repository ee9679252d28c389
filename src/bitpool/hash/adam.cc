#include "bitpool/hash/adam.h"

#include <cmath>
#include <numbers>

namespace bitpool {
namespace {

constexpr double kMeanDecay = 0.9;      // β₁
constexpr double kSquareDecay = 0.999;  // β₂
constexpr float kSmall = 1e-8F;         // ε
constexpr size_t kChunk = size_t{1} << 14;

}  // namespace

void TakeAdamStep(const AdamStep& step, const AdamParameters& parameters,
                  const RunContext& context) {
  const auto number = static_cast<double>(step.number);
  const auto rate = static_cast<float>(step.rate / (1 - std::pow(kMeanDecay, number)));
  const auto correction = static_cast<float>(1 / (1 - std::pow(kSquareDecay, number)));
  const auto keep = static_cast<float>(parameters.decays ? 1 - step.rate * step.weight_decay : 1);
  constexpr auto mean_decay = static_cast<float>(kMeanDecay);
  constexpr auto square_decay = static_cast<float>(kSquareDecay);
  context.pool().ParallelFor(parameters.values.size(), kChunk, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const float gradient = parameters.gradient[i];
      float& mean = parameters.mean[i];
      float& square = parameters.square[i];
      mean = mean_decay * mean + (1 - mean_decay) * gradient;
      square = square_decay * square + (1 - square_decay) * gradient * gradient;
      parameters.values[i] =
          keep * parameters.values[i] - rate * mean / (std::sqrt(correction * square) + kSmall);
    }
  });
}

double CosineRate(double rate, int64_t done, int64_t total) {
  return rate * 0.5 *
         (1 + std::cos(std::numbers::pi * static_cast<double>(done) / static_cast<double>(total)));
}

}  // namespace bitpool
