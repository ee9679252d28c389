#include "bitpool/hash/baselines/graph_bit_loss.h"

#include <cmath>

#include "bitpool/hash/baselines/head_training.h"

namespace bitpool {
namespace {

constexpr double kFactor = 100;

}  // namespace

double GraphBitLossOfBit(const GraphBitWeights& weights, const VectorF& p,
                         const VectorF& unlinked) {
  const double uneven = p.cast<double>().mean() - kBitMiddle;
  const double certainty =
      ((p.array() - kBitMiddle).abs() + kBitMiddle).cast<double>().log().mean();
  const double unfaithful = (unlinked - p).cast<double>().array().square().mean();
  return kFactor *
         (uneven * uneven - weights.certainty * certainty + weights.fidelity * unfaithful);
}

GraphBitLoss ComputeGraphBitLoss(const GraphBitWeights& weights, const MatrixF& p,
                                 const MatrixF& unlinked) {
  GraphBitLoss result;
  for (Index bit = 0; bit < p.rows(); ++bit) {
    result.loss += GraphBitLossOfBit(weights, p.row(bit), unlinked.row(bit));
  }
  result.loss /= static_cast<double>(p.rows());
  const auto scale = static_cast<float>(kFactor / static_cast<double>(p.size()));
  const VectorF uneven = p.rowwise().mean().array() - kBitMiddle;
  const MatrixF sure = p.unaryExpr([](float value) {
    const float apart = value - kBitMiddle;
    return (apart < 0 ? -1.0F : 1.0F) / (std::abs(apart) + kBitMiddle);
  });
  result.unlinked_gradient = (2 * scale * static_cast<float>(weights.fidelity)) * (unlinked - p);
  result.gradient = -result.unlinked_gradient;
  result.gradient -= (scale * static_cast<float>(weights.certainty)) * sure;
  result.gradient.colwise() += 2 * scale * uneven;
  return result;
}

}  // namespace bitpool
