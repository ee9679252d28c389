#include "bitpool/hash/baselines/sphere_encoder.h"

#include <fmt/format.h>

#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/linalg/reductions.h"

namespace bitpool {

SphereEncoder::SphereEncoder(MatrixF centres, VectorF squared_radii)
    : centres_(std::move(centres)), squared_radii_(std::move(squared_radii)) {
  if (centres_.cols() != squared_radii_.size() || centres_.rows() < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("an encoder of {} × {} centres and {} radii: sizes do not agree",
                            centres_.rows(), centres_.cols(), squared_radii_.size()));
  }
  RequireBits(static_cast<int>(squared_radii_.size()));
  if (!centres_.allFinite() || !squared_radii_.allFinite() || squared_radii_.minCoeff() < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "an encoder of spheres whose centres or radii are not finite or are negative");
  }
  middle_ = centres_.cast<double>().rowwise().mean().cast<float>();
  twice_ = centres_.colwise() - middle_;
  const VectorD squared_norms = twice_.cast<double>().colwise().squaredNorm();
  offset_ = (squared_radii_.cast<double>() - squared_norms).cast<float>();
  twice_ *= 2.0F;
}

std::vector<NamedMatrix> SphereEncoder::Parameters() const {
  return {{"sphere_centres", centres_}, {"sphere_squared_radii", squared_radii_}};
}

MatrixF SphereEncoder::ProjectColumns(const MatrixFRef& block) const {
  const MatrixF shifted = block.colwise() - middle_;
  MatrixF projected(centres_.cols(), block.cols());
  projected.noalias() = twice_.transpose() * shifted;
  for (Index i = 0; i < block.cols(); ++i) {
    const float* column = shifted.col(i).data();
    const auto squared_norm = static_cast<float>(Dot(column, column, shifted.rows()));
    projected.col(i) += (offset_.array() - squared_norm).matrix();
  }
  return projected;
}

}  // namespace bitpool
