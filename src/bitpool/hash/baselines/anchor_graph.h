#pragma once

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/linalg/column_source.h"

namespace bitpool {

struct AnchorGraphOptions {
  Index anchors = 500;  // k-means centroids; never more than a quarter of the samples
  int nearest = 2;      // anchors that a sample is tied to

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// How similar samples are, through anchors that they are near to (Liu, Wang, Kumar and Chang, ICML
// 2011): S = ZΛ⁻¹Zᵀ, where row i of Z has the shares exp(−d²/σ²) of the anchors nearest to sample
// i, which sum to one, and Λ has the column sums of Z. σ is the mean distance from the farthest of
// them. All rows of S add up to one, so its Laplacian is I − S. Never changes, and takes memory in
// proportion to the samples.
class AnchorGraph {
 public:
  // Throws kInvalidArgument for samples that are not finite, naming the column.
  AnchorGraph(const AnchorGraphOptions& options, const ColumnSource& samples,
              const RunContext& context);
  // From the parts, a column per sample: the anchors it is tied to and their shares.
  AnchorGraph(Index anchors, Eigen::MatrixXi nearest, MatrixD shares);

  Index size() const { return shares_.cols(); }

  // B(I − S) for a matrix with a column per sample.
  MatrixD TimesLaplacian(const MatrixD& b, const RunContext& context) const;

 private:
  void SumAnchors(Index anchors);

  Eigen::MatrixXi nearest_;
  MatrixD shares_;  // Z, its numbers that are not zero
  VectorD sums_;    // Λ; one for anchors without samples
};

}  // namespace bitpool
