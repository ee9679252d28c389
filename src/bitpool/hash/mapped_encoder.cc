#include "bitpool/hash/mapped_encoder.h"

#include <fmt/format.h>

#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {

MappedEncoder::MappedEncoder(LinearMap map, std::shared_ptr<const HashEncoder> encoder)
    : map_(std::move(map)), encoder_(std::move(encoder)), kind_(kKindPrefix) {
  kind_ += encoder_->kind();
  if (map_.weights.rows() != encoder_->dimension() || map_.bias.size() != map_.weights.rows()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a map to {} dimensions (with a bias of {}) before an encoder of {}",
                            map_.weights.rows(), map_.bias.size(), encoder_->dimension()));
  }
  if (!map_.weights.allFinite() || !map_.bias.allFinite()) {
    throw Error(ErrorCode::kInvalidArgument, "a map before an encoder: expected finite numbers");
  }
}

std::vector<NamedMatrix> MappedEncoder::Parameters() const {
  std::vector<NamedMatrix> parameters = encoder_->Parameters();
  parameters.emplace_back(kWeightsName, map_.weights);
  parameters.emplace_back(kBiasName, map_.bias);
  return parameters;
}

MatrixF MappedEncoder::ProjectColumns(const MatrixFRef& block) const {
  MatrixF mapped = map_.weights * block;
  mapped.colwise() += map_.bias;
  return encoder_->Project(mapped);
}

}  // namespace bitpool
