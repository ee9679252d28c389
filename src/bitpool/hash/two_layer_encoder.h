#pragma once

#include "bitpool/hash/hash_encoder.h"

namespace bitpool {

// h = W₀x + c₀ + W₂ max(0, W₁x + b₁): a linear map and, beside it, one hidden layer.
struct TwoLayerMap {
  LinearMap linear;  // W₀, c₀
  LinearMap hidden;  // W₁, b₁; both empty: there is no hidden layer
  MatrixF output;    // W₂

  Index bits() const { return linear.weights.rows(); }
  Index dimension() const { return linear.weights.cols(); }
  Index hidden_units() const { return hidden.weights.rows(); }
};

class TwoLayerEncoder : public HashEncoder {
 public:
  // Throws kInvalidArgument for sizes that do not agree, without a hidden layer, and for numbers
  // that are not finite.
  explicit TwoLayerEncoder(TwoLayerMap map);

  Index dimension() const override { return map_.dimension(); }
  int bits() const override { return static_cast<int>(map_.bits()); }
  std::string_view kind() const override { return "two_layer"; }
  std::vector<NamedMatrix> Parameters() const override;

  const TwoLayerMap& map() const { return map_; }

 private:
  MatrixF ProjectColumns(const MatrixFRef& block) const override;

  TwoLayerMap map_;
};

// max(0, W₁x + b₁) of every column.
MatrixF HiddenUnits(const TwoLayerMap& map, const MatrixFRef& block);
// h of every column, from its hidden units, which have no rows where there is no hidden layer.
MatrixF OutputOf(const TwoLayerMap& map, const MatrixFRef& block, const MatrixFRef& hidden);

}  // namespace bitpool
