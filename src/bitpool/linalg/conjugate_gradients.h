#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "bitpool/base/error.h"
#include "bitpool/base/matrix.h"
#include "bitpool/linalg/reductions.h"

namespace bitpool {

struct ConjugateGradientsOptions {
  int max_iterations = 100;          // products with the matrix, at most
  double relative_tolerance = 1e-5;  // stop when ‖b − Ax‖ <= this × ‖b‖

  // Throws kInvalidArgument when a field has no meaning.
  void Validate() const {
    if (max_iterations < 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("max_iterations: expected 0 or more, got {}", max_iterations));
    }
    if (!(relative_tolerance >= 0)) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("relative_tolerance: expected 0 or more, got {}", relative_tolerance));
    }
  }
};

struct ConjugateGradientsResult {
  int iterations = 0;
  double relative_residual = 0;  // ‖b − Ax‖ / ‖b‖ as the method carries it along, see below
  bool converged = false;
  bool positive_definite = true;  // false: a direction p with pᵀAp <= 0, or a product that is not
                                  // finite, ended the solve at the last good x
};

// Vectors of one solve. Kept between solves of one size, it saves their allocation. One at a time.
struct ConjugateGradientsWorkspace {
  VectorF residual;
  VectorF direction;
  VectorF product;
};

// Solves Ax = b for a symmetric positive definite A that is known only by its products:
// apply(in, out) writes A·in to out, which has the right size already. `solution` holds the start
// and receives the result; zeros as a start save one product. A right-hand side of zero gives zero.
//
// Vectors are single precision, inner products double. The residual that is carried along departs
// from the true one by about 1e-7 × ‖A‖‖x‖ / ‖b‖, which is at most 1e-7 × the condition of A: a
// tolerance of 1e-5 is met truly up to a condition of 100 for any b, and far beyond for a b that
// lies, as in pooling, along the large eigenvalues. Beyond a condition of about 1e7 the result of a
// general b means little in single precision.
//
// Throws kInvalidArgument when the sizes of the solution and the right-hand side differ.
template <class Apply>
ConjugateGradientsResult SolveConjugateGradients(const ConjugateGradientsOptions& options,
                                                 const Apply& apply, const VectorF& rhs,
                                                 VectorF& solution,
                                                 ConjugateGradientsWorkspace& workspace) {
  const Index size = rhs.size();
  if (solution.size() != size) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("start of conjugate gradients: expected {} values, got {}", size,
                            solution.size()));
  }
  auto& [residual, direction, product] = workspace;
  residual.resize(size);
  direction.resize(size);
  product.resize(size);

  ConjugateGradientsResult result;
  const double rhs_norm = std::sqrt(Dot(rhs.data(), rhs.data(), size));
  if (rhs_norm == 0) {
    solution.setZero();
    result.converged = true;
    return result;
  }
  residual = rhs;
  if (Dot(solution.data(), solution.data(), size) != 0) {
    apply(static_cast<const VectorF&>(solution), product);
    residual -= product;
  }
  double squared = Dot(residual.data(), residual.data(), size);
  result.relative_residual = std::sqrt(squared) / rhs_norm;
  if (!std::isfinite(result.relative_residual)) {
    result.relative_residual = std::numeric_limits<double>::infinity();
    result.positive_definite = false;
    return result;
  }
  direction = residual;
  while (!(result.converged = result.relative_residual <= options.relative_tolerance) &&
         result.iterations < options.max_iterations) {
    apply(static_cast<const VectorF&>(direction), product);
    const double curvature = Dot(direction.data(), product.data(), size);
    const auto step = static_cast<float>(squared / curvature);
    if (!(curvature > 0) || !std::isfinite(curvature) || !std::isfinite(step)) {
      result.positive_definite = false;
      return result;
    }
    solution += step * direction;
    residual -= step * product;
    const double next = Dot(residual.data(), residual.data(), size);
    direction = residual + static_cast<float>(next / squared) * direction;
    squared = next;
    result.relative_residual = std::sqrt(squared) / rhs_norm;
    ++result.iterations;
  }
  return result;
}

template <class Apply>
ConjugateGradientsResult SolveConjugateGradients(const ConjugateGradientsOptions& options,
                                                 const Apply& apply, const VectorF& rhs,
                                                 VectorF& solution) {
  ConjugateGradientsWorkspace workspace;
  return SolveConjugateGradients(options, apply, rhs, solution, workspace);
}

}  // namespace bitpool
