#include "bitpool/hash/two_layer_gradient.h"

namespace bitpool {
namespace {

constexpr size_t kGradientColumns = 128;  // of a batch, by one task
constexpr size_t kGradientInputs = 64;    // columns of a weight matrix, by one task

// Gradient · inputsᵀ, the gradient with respect to the weights that inputs are multiplied with.
MatrixF GradientOfWeights(const MatrixF& gradient, const MatrixF& inputs,
                          const RunContext& context) {
  MatrixF weights(gradient.rows(), inputs.rows());
  context.ParallelFor(static_cast<size_t>(inputs.rows()), kGradientInputs,
                      [&](size_t begin, size_t end) {
                        const auto first = static_cast<Index>(begin);
                        const auto count = static_cast<Index>(end - begin);
                        weights.middleCols(first, count).noalias() =
                            gradient * inputs.middleRows(first, count).transpose();
                      });
  return weights;
}

VectorF GradientOfBias(const MatrixF& gradient) {
  return gradient * VectorF::Ones(gradient.cols());
}

// The gradient with respect to W₁x + b₁.
MatrixF GradientOfHidden(const TwoLayerMap& map, const MatrixF& hidden, const MatrixF& gradient,
                         const RunContext& context) {
  MatrixF result(hidden.rows(), hidden.cols());
  context.ParallelFor(
      static_cast<size_t>(hidden.cols()), kGradientColumns, [&](size_t begin, size_t end) {
        const auto first = static_cast<Index>(begin);
        const auto count = static_cast<Index>(end - begin);
        auto block = result.middleCols(first, count);
        block.noalias() = map.output.transpose() * gradient.middleCols(first, count);
        block = (hidden.middleCols(first, count).array() > 0).select(block, 0.0F);
      });
  return result;
}

}  // namespace

TwoLayerOutput ApplyMap(const TwoLayerMap& map, const MatrixF& batch, const RunContext& context) {
  TwoLayerOutput output{.hidden = MatrixF(map.hidden_units(), batch.cols()),
                        .projections = MatrixF(map.bits(), batch.cols())};
  context.ParallelFor(static_cast<size_t>(batch.cols()), kGradientColumns,
                      [&](size_t begin, size_t end) {
                        const auto first = static_cast<Index>(begin);
                        const auto count = static_cast<Index>(end - begin);
                        const auto block = batch.middleCols(first, count);
                        auto hidden = output.hidden.middleCols(first, count);
                        hidden = HiddenUnits(map, block);
                        output.projections.middleCols(first, count) = OutputOf(map, block, hidden);
                      });
  return output;
}

TwoLayerMap GradientOfMap(const TwoLayerMap& map, const MatrixF& batch,
                          const TwoLayerOutput& output, const MatrixF& gradient,
                          const RunContext& context) {
  TwoLayerMap result{.linear = {.weights = GradientOfWeights(gradient, batch, context),
                                .bias = GradientOfBias(gradient)},
                     .hidden = map.hidden,
                     .output = map.output};
  if (map.hidden_units() == 0) return result;
  result.output = GradientOfWeights(gradient, output.hidden, context);
  const MatrixF hidden = GradientOfHidden(map, output.hidden, gradient, context);
  result.hidden = {.weights = GradientOfWeights(hidden, batch, context),
                   .bias = GradientOfBias(hidden)};
  return result;
}

TwoLayerMap ZeroMapLike(const TwoLayerMap& map) {
  TwoLayerMap zero = map;
  for (MatrixF* weights : {&zero.linear.weights, &zero.hidden.weights, &zero.output}) {
    weights->setZero();
  }
  for (VectorF* bias : {&zero.linear.bias, &zero.hidden.bias}) bias->setZero();
  return zero;
}

}  // namespace bitpool
