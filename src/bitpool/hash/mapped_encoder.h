#pragma once

#include <memory>

#include "bitpool/hash/hash_encoder.h"
#include "bitpool/linalg/ridge.h"

namespace bitpool {

// An encoder of any kind behind a linear map of the vectors.
class MappedEncoder : public HashEncoder {
 public:
  // The names of the map's arrays among the parameters.
  static constexpr const char* kWeightsName = "whitening_weights";
  static constexpr const char* kBiasName = "whitening_bias";

  // Throws kInvalidArgument for sizes that do not agree or numbers that are not finite.
  MappedEncoder(LinearMap map, std::shared_ptr<const HashEncoder> encoder);

  Index dimension() const override { return map_.weights.cols(); }
  int bits() const override { return encoder_->bits(); }
  // That of the encoder; the parameters tell that there is a map.
  std::string_view kind() const override { return encoder_->kind(); }
  std::vector<NamedMatrix> Parameters() const override;

  const LinearMap& map() const { return map_; }
  const HashEncoder& encoder() const { return *encoder_; }

 private:
  MatrixF ProjectColumns(const MatrixFRef& block) const override;

  LinearMap map_;
  std::shared_ptr<const HashEncoder> encoder_;
};

}  // namespace bitpool
