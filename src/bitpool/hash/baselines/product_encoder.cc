#include "bitpool/hash/baselines/product_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

constexpr Index kProductColumns = 512;
constexpr int kMaxSubspaceBits = 8;

// h of one sample and subspace from the squared distances to the 2^bits codewords, but for a
// constant.
void ProjectSubspace(const float* distances, int bits, float* h) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float nearest[2][kMaxSubspaceBits];
  std::fill(&nearest[0][0], &nearest[0][0] + 2 * kMaxSubspaceBits, kInfinity);
  int best = 0;
  for (int code = 0; code < 1 << bits; ++code) {
    const float distance = distances[code];
    if (distance < distances[best]) best = code;
    for (int bit = 0; bit < bits; ++bit) {
      float& side = nearest[code >> bit & 1][bit];
      if (distance < side) side = distance;
    }
  }
  for (int bit = 0; bit < bits; ++bit) {
    h[bit] = nearest[0][bit] - nearest[1][bit];
    // Of codewords at the same distance the lowest counts: zero would be a 1, and the bits of two
    // codewords could mix into a third that is far away.
    const bool zero = (best >> bit & 1) == 0;
    if (zero && h[bit] == 0) h[bit] = -std::numeric_limits<float>::min();
  }
}

}  // namespace

ProductEncoder::ProductEncoder(VectorF mean, MatrixF codewords, VectorF subspace_bits)
    : mean_(std::move(mean)),
      codewords_(std::move(codewords)),
      subspace_bits_(std::move(subspace_bits)) {
  Index expected = 0;
  for (const float bits : subspace_bits_) {
    if (!(bits >= 1 && bits <= kMaxSubspaceBits && bits == std::floor(bits))) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("bits of a subspace: expected a whole number in [1, {}], got {}",
                              kMaxSubspaceBits, bits));
    }
    expected += Index{1} << static_cast<int>(bits);
  }
  if (codewords_.rows() != mean_.size() || codewords_.cols() != expected || mean_.size() < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("an encoder of {} × {} codewords, a mean of {} numbers and {} "
                            "subspaces with {} codewords: sizes do not agree",
                            codewords_.rows(), codewords_.cols(), mean_.size(),
                            subspace_bits_.size(), expected));
  }
  bits_ = static_cast<int>(std::min(subspace_bits_.sum(), static_cast<float>(kMaxBits + 1)));
  RequireBits(bits_);
  if (!mean_.allFinite() || !codewords_.allFinite()) {
    throw Error(ErrorCode::kInvalidArgument, "an encoder with numbers that are not finite");
  }
  minus_twice_ = -2.0F * codewords_;
  squared_norms_ = codewords_.cast<double>().colwise().squaredNorm().cast<float>();
}

std::vector<NamedMatrix> ProductEncoder::Parameters() const {
  return {{"product_mean", mean_},
          {"product_codewords", codewords_},
          {"product_subspace_bits", subspace_bits_}};
}

MatrixF ProductEncoder::ProjectColumns(const MatrixFRef& block) const {
  MatrixF projected(bits_, block.cols());
  MatrixF shifted, distances;
  for (Index first = 0; first < block.cols(); first += kProductColumns) {
    const Index count = std::min(kProductColumns, block.cols() - first);
    shifted = block.middleCols(first, count).colwise() - mean_;
    distances.resize(codewords_.cols(), count);
    distances.noalias() = minus_twice_.transpose() * shifted;
    distances.colwise() += squared_norms_;
    for (Index i = 0; i < count; ++i) {
      const float* distance = distances.col(i).data();
      float* h = projected.col(first + i).data();
      for (const float subspace : subspace_bits_) {
        const int bits = static_cast<int>(subspace);
        ProjectSubspace(distance, bits, h);
        distance += Index{1} << bits;
        h += bits;
      }
    }
  }
  return projected;
}

}  // namespace bitpool
