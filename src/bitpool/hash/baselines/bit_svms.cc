#include "bitpool/hash/baselines/bit_svms.h"

namespace bitpool {

void BitSvms::Train(const MatrixF& targets, const std::vector<Index>& bits, MatrixD& weights,
                    const RunContext& context) const {
  std::vector<Index> varying;
  for (const Index bit : bits) {
    const float first = targets(0, bit);
    if ((targets.col(bit).array() == first).all()) {
      weights.col(bit).setZero();
      weights(weights.rows() - 1, bit) = static_cast<double>(first);
    } else {
      varying.push_back(bit);
    }
  }
  Solve(targets, varying, weights, context);
}

}  // namespace bitpool
