#pragma once

#include <Eigen/Cholesky>
#include <variant>

#include "bitpool/base/matrix.h"
#include "bitpool/linalg/moments.h"

namespace bitpool {

// y = weights · x + bias
struct LinearMap {
  MatrixF weights;
  VectorF bias;
};

// `second` applied to the result of `first`, as one map.
LinearMap Compose(const LinearMap& first, const LinearMap& second);

// Ridge regression: the W and c that minimise ‖T − WX − c1ᵀ‖² + ridge ‖W‖², exactly and jointly,
// from moments alone:
//   W (Sxx + ridge I) = Stx,  c = mean(t) − W mean(x).
// The first term is a sum over the samples; to keep its balance with the second at any number of
// samples, pass ridge × count.
//
// Factors once (Cholesky, double precision) and solves for any number of targets. When the ridge is
// so small that directions in which the inputs do not vary (as far as the single precision of the
// moments can tell) would decide the result, those directions get weight zero, which for
// ridge = 0 is the solution of minimum norm. A solver never changes and may be used from many
// threads.
class RidgeSolver {
 public:
  // Throws kInvalidArgument for a ridge that is negative or not finite, or without samples.
  RidgeSolver(const Moments& inputs, double ridge);

  // REQUIRES: `cross` is of the inputs the solver was made for. Throws kInvalidArgument when their
  // dimensions differ.
  LinearMap Solve(const CrossScatter& cross) const;

 private:
  // (Sxx + ridge I)⁺ = vectors · diag(inverses) · vectorsᵀ
  struct Spectrum {
    MatrixD vectors;
    VectorD inverses;
  };

  Index dimension_;
  std::variant<Eigen::LLT<MatrixD>, Spectrum> factor_;
};

LinearMap SolveRidge(const CrossMoments& moments, double ridge);

}  // namespace bitpool
