#pragma once

#include <memory>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"

namespace bitpool {

struct BitSvmOptions {
  double cost = 100;        // C
  double tolerance = 1e-3;  // ε: ends when the gradient is at most ε times that at w = 0 times the
                            // share of the rarer class, as in liblinear
};

// Linear support vector machines that predict the bits of codes, one for each bit, all trained on
// the same samples: the encoder step of the binary autoencoder. Each minimises
//   ½‖w‖² + C Σ max(0, 1 − y wᵀ(x, 1))²
// where y is the bit as −1 or +1; the last weight is the bias, which is regularised like the rest.
// Training is fastest on samples in their principal axes, where the Hessian is nearly diagonal.
class BitSvms {
 public:
  virtual ~BitSvms() = default;

  // Trains the SVMs of the given bits. Column `bit` of `targets` has −1 or +1 for each sample.
  // Column `bit` of `weights`, dimension + 1 values, holds the start and receives the result. A bit
  // that is the same everywhere gets zero weights and a bias of that sign. After an exception some
  // columns may have changed.
  void Train(const MatrixF& targets, const std::vector<Index>& bits, MatrixD& weights,
             const RunContext& context) const;

 private:
  // REQUIRES: both signs in the targets of every bit.
  virtual void Solve(const MatrixF& targets, const std::vector<Index>& bits, MatrixD& weights,
                     const RunContext& context) const = 0;
};

// Our own solver: Newton's method on all bits at once, its systems solved by conjugate gradients,
// so that the samples, in single precision, are read by matrix products that serve every bit.
// `samples` must outlive it.
std::unique_ptr<BitSvms> MakeBatchedSvms(const BitSvmOptions& options, const MatrixF& samples,
                                         const RunContext& context);

}  // namespace bitpool
