#pragma once

#include <string_view>
#include <vector>

#include "bitpool/hash/hash_encoder.h"

namespace bitpool {

// The binary indices of the nearest codeword in each of several orthogonal subspaces. A subspace
// with b bits has 2^b codewords, and h of its bit i is the squared distance to the nearest codeword
// whose index has 0 at bit i minus that to the nearest which has 1, so that the signs of h are the
// index of the nearest codeword, the lowest of several at the same distance.
//
// Codewords are vectors of the whole space: their part outside their subspace is zero, and what a
// sample has outside is the same for all codewords of a subspace and drops out of h. So the
// encoder needs no rotation, and a product with the codewords is all it costs.
class ProductEncoder : public HashEncoder {
 public:
  // `codewords`, relative to `mean`, has 2^b columns of every subspace, one subspace after the
  // other; `subspace_bits` has b of each. Throws kInvalidArgument for sizes that do not agree,
  // numbers that are not finite and b that is not a whole number in [1, 8].
  ProductEncoder(VectorF mean, MatrixF codewords, VectorF subspace_bits);

  Index dimension() const override { return mean_.size(); }
  int bits() const override { return bits_; }
  std::string_view kind() const override { return "product"; }
  std::vector<NamedMatrix> Parameters() const override;

  const VectorF& mean() const { return mean_; }
  const MatrixF& codewords() const { return codewords_; }
  const VectorF& subspace_bits() const { return subspace_bits_; }

 private:
  MatrixF ProjectColumns(const MatrixFRef& block) const override;

  VectorF mean_;
  MatrixF codewords_;
  VectorF subspace_bits_;
  int bits_ = 0;
  MatrixF minus_twice_;  // −2 codewords
  VectorF squared_norms_;
};

}  // namespace bitpool
