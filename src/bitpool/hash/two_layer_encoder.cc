#include "bitpool/hash/two_layer_encoder.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

void RequireAgreement(const TwoLayerMap& map) {
  const Index units = map.hidden_units();
  if (map.dimension() >= 1 && units >= 1 && map.linear.bias.size() == map.bits() &&
      map.hidden.weights.cols() == map.dimension() && map.hidden.bias.size() == units &&
      map.output.rows() == map.bits() && map.output.cols() == units) {
    return;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("an encoder of two layers with {} × {} linear weights and {} biases, "
                          "{} × {} hidden weights and {} biases, {} × {} output weights: sizes do "
                          "not agree",
                          map.bits(), map.dimension(), map.linear.bias.size(), units,
                          map.hidden.weights.cols(), map.hidden.bias.size(), map.output.rows(),
                          map.output.cols()));
}

}  // namespace

TwoLayerEncoder::TwoLayerEncoder(TwoLayerMap map) : map_(std::move(map)) {
  RequireAgreement(map_);
  RequireBits(static_cast<int>(map_.bits()));
  if (!map_.linear.weights.allFinite() || !map_.linear.bias.allFinite() ||
      !map_.hidden.weights.allFinite() || !map_.hidden.bias.allFinite() ||
      !map_.output.allFinite()) {
    throw Error(ErrorCode::kInvalidArgument, "an encoder with numbers that are not finite");
  }
}

std::vector<NamedMatrix> TwoLayerEncoder::Parameters() const {
  return {{"encoder_weights", map_.linear.weights},
          {"encoder_bias", map_.linear.bias},
          {"hidden_weights", map_.hidden.weights},
          {"hidden_bias", map_.hidden.bias},
          {"output_weights", map_.output}};
}

MatrixF TwoLayerEncoder::ProjectColumns(const MatrixFRef& block) const {
  return OutputOf(map_, block, HiddenUnits(map_, block));
}

MatrixF HiddenUnits(const TwoLayerMap& map, const MatrixFRef& block) {
  MatrixF hidden(map.hidden_units(), block.cols());
  if (hidden.rows() == 0) return hidden;
  hidden.noalias() = map.hidden.weights * block;
  hidden.colwise() += map.hidden.bias;
  // Not cwiseMax, which would turn what is not a number into zero.
  return hidden.unaryExpr([](float value) { return value < 0 ? 0.0F : value; });
}

MatrixF OutputOf(const TwoLayerMap& map, const MatrixFRef& block, const MatrixFRef& hidden) {
  MatrixF output(map.bits(), block.cols());
  output.noalias() = map.linear.weights * block;
  if (hidden.rows() > 0) output.noalias() += map.output * hidden;
  output.colwise() += map.linear.bias;
  return output;
}

}  // namespace bitpool
