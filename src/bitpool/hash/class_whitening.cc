#include "bitpool/hash/class_whitening.h"

#include <utility>

#include "bitpool/linalg/ridge.h"

namespace bitpool {

ViewWhitening WhitenByClasses(const WhiteningOptions& options, const Moments& vectors,
                              const CrossMoments& from_labels) {
  const MatrixD explained =
      SolveRidge(from_labels, 0).weights.cast<double>() * from_labels.cross().scatter().transpose();
  MatrixD within = (vectors.scatter() - explained) / static_cast<double>(vectors.count());
  if (!VariesWithin(within, vectors.Covariance().trace())) {
    within = MatrixD::Identity(within.rows(), within.cols());
  }
  return WhitenBy(options, std::move(within), vectors.mean());
}

}  // namespace bitpool
