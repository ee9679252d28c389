#include "bitpool/pool/descriptor_weights.h"

#include <cmath>

#include "bitpool/linalg/reductions.h"

namespace bitpool {

VectorD DescriptorWeights(const VectorF& attention, const MatrixFRef& descriptors) {
  VectorD weights(descriptors.cols());
  for (Index i = 0; i < weights.size(); ++i) {
    weights[i] = Dot(attention.data(), descriptors.col(i).data(), attention.size());
  }
  // The largest exponential is 1, so that none overflows.
  const double largest = weights.maxCoeff();
  double sum = 0;
  for (double& weight : weights) {
    weight = std::exp(weight - largest);
    sum += weight;
  }
  return weights * (static_cast<double>(weights.size()) / sum);
}

VectorD AttentionGradient(const MatrixFRef& descriptors, const VectorD& weights,
                          const VectorD& gradient) {
  // Σ gᵢwᵢ (vᵢ − v̄) = Σ (gᵢ − mean of gw) wᵢ vᵢ
  const double mean = gradient.dot(weights) / static_cast<double>(weights.size());
  VectorD result = VectorD::Zero(descriptors.rows());
  for (Index i = 0; i < weights.size(); ++i) {
    result += (gradient[i] - mean) * weights[i] * descriptors.col(i).cast<double>();
  }
  return result;
}

}  // namespace bitpool
