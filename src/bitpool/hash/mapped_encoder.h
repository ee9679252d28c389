#pragma once

#include <memory>
#include <string>

#include "bitpool/hash/hash_encoder.h"
#include "bitpool/linalg/ridge.h"

namespace bitpool {

// An encoder of any kind after a linear map of the vectors.
class MappedEncoder : public HashEncoder {
 public:
  // The names of the map's arrays among the parameters.
  static constexpr const char* kWeightsName = "whitening_weights";
  static constexpr const char* kBiasName = "whitening_bias";

  // Throws kInvalidArgument for sizes that do not agree or numbers that are not finite.
  MappedEncoder(LinearMap map, std::shared_ptr<const HashEncoder> encoder);

  Index dimension() const override { return map_.weights.cols(); }
  int bits() const override { return encoder_->bits(); }
  // That of the encoder with a prefix, so that a program which knows no maps refuses the model.
  std::string_view kind() const override { return kind_; }
  static constexpr std::string_view kKindPrefix = "mapped_";
  std::vector<NamedMatrix> Parameters() const override;

  const LinearMap& map() const { return map_; }
  const HashEncoder& encoder() const { return *encoder_; }

 private:
  MatrixF ProjectColumns(const MatrixFRef& block) const override;

  LinearMap map_;
  std::shared_ptr<const HashEncoder> encoder_;
  std::string kind_;
};

}  // namespace bitpool
