#include "bitpool/linalg/ridge.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/linalg/symmetric_eigen.h"

namespace bitpool {
namespace {

// The largest eigenvalue that rounding alone can give to a direction without variance: the entries
// of the scatter carry errors of a few units of single precision relative to its largest entry,
// and the norm of a random matrix is about the square root of its size times its entries.
double RoundingLevel(const MatrixD& scatter) {
  const double largest = scatter.diagonal().maxCoeff();
  return 4 * std::sqrt(static_cast<double>(scatter.rows())) *
         static_cast<double>(std::numeric_limits<float>::epsilon()) * largest;
}

void CheckArguments(const Moments& inputs, double ridge) {
  if (!(ridge >= 0) || std::isinf(ridge)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("ridge: expected a finite number of 0 or more, got {}", ridge));
  }
  if (inputs.count() == 0 || inputs.dimension() == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a regression needs samples: got {} of {} dimensions", inputs.count(),
                            inputs.dimension()));
  }
}

}  // namespace

LinearMap Compose(const LinearMap& first, const LinearMap& second) {
  return {.weights = second.weights * first.weights,
          .bias = second.weights * first.bias + second.bias};
}

RidgeSolver::RidgeSolver(const Moments& inputs, double ridge) : dimension_(inputs.dimension()) {
  CheckArguments(inputs, ridge);
  const double level = RoundingLevel(inputs.scatter());
  MatrixD system = inputs.scatter();
  system.diagonal().array() += ridge;
  const double norm = system.cwiseAbs().colwise().sum().maxCoeff();
  Eigen::LLT<MatrixD> cholesky(system);
  if (cholesky.info() == Eigen::Success && norm > 0) {
    // 1 / ‖A⁻¹‖₁ is a lower bound on the smallest eigenvalue.
    if (ridge > level || cholesky.rcond() * norm > level) {
      factor_ = std::move(cholesky);
      return;
    }
  }
  SymmetricEigen eigen = ComputeSymmetricEigen(inputs.scatter(), inputs.dimension());
  VectorD inverses = VectorD::Zero(eigen.values.size());
  for (Index i = 0; i < inverses.size(); ++i) {
    if (eigen.values[i] > level) inverses[i] = 1 / (eigen.values[i] + ridge);
  }
  factor_ = Spectrum{.vectors = std::move(eigen.vectors), .inverses = std::move(inverses)};
}

LinearMap RidgeSolver::Solve(const CrossScatter& cross) const {
  if (cross.scatter().cols() != dimension_) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("inputs of the regression: expected {} dimensions, got {}", dimension_,
                            cross.scatter().cols()));
  }
  MatrixD transposed;
  if (const auto* cholesky = std::get_if<Eigen::LLT<MatrixD>>(&factor_)) {
    transposed = cholesky->solve(cross.scatter().transpose());
  } else {
    const auto& [vectors, inverses] = std::get<Spectrum>(factor_);
    const MatrixD projected = vectors.transpose() * cross.scatter().transpose();
    transposed = vectors * (inverses.asDiagonal() * projected);
  }
  LinearMap map;
  map.weights = transposed.transpose().cast<float>();
  // From the weights as they are stored, so that their rounding does not shift the mean.
  const MatrixD stored = map.weights.cast<double>();
  map.bias = (cross.target_mean() - stored * cross.input_mean()).cast<float>();
  return map;
}

LinearMap SolveRidge(const CrossMoments& moments, double ridge) {
  return RidgeSolver(moments.inputs(), ridge).Solve(moments.cross());
}

}  // namespace bitpool
