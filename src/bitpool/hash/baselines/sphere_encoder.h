#pragma once

#include <string_view>
#include <vector>

#include "bitpool/hash/hash_encoder.h"

namespace bitpool {

// h = r² − ‖x − c‖² of a sphere per bit: 1 inside and on the sphere.
class SphereEncoder : public HashEncoder {
 public:
  // A column of `centres` and an entry of `squared_radii` per bit. Throws kInvalidArgument for
  // sizes that do not agree, numbers that are not finite and negative radii.
  SphereEncoder(MatrixF centres, VectorF squared_radii);

  Index dimension() const override { return centres_.rows(); }
  int bits() const override { return static_cast<int>(centres_.cols()); }
  std::string_view kind() const override { return "spheres"; }
  std::vector<NamedMatrix> Parameters() const override;

  const MatrixF& centres() const { return centres_; }              // D×bits
  const VectorF& squared_radii() const { return squared_radii_; }  // bits

 private:
  MatrixF ProjectColumns(const MatrixFRef& block) const override;

  MatrixF centres_;
  VectorF squared_radii_;
  // ‖x − c‖² as ‖x‖² − 2cᵀx + ‖c‖² loses its digits when x and c are far from zero and near each
  // other; the products are made of vectors relative to the middle of the centres instead.
  VectorF middle_;
  MatrixF twice_;   // 2 (centres − middle)
  VectorF offset_;  // r² − ‖centres − middle‖²
};

}  // namespace bitpool
