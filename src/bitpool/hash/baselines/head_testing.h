#pragma once

#include <gtest/gtest.h>

#include "bitpool/base/matrix.h"

// Shared by the tests of losses.
namespace bitpool {

// The gradient of loss(z), which must be smooth enough around z, by central differences.
template <class Loss>
MatrixD DifferencesOf(const MatrixF& z, const Loss& loss, float step = 1e-2F) {
  MatrixD gradient(z.rows(), z.cols());
  for (Index i = 0; i < z.size(); ++i) {
    MatrixF moved = z;
    moved.data()[i] += step;
    const double above = loss(moved);
    moved.data()[i] -= 2 * step;
    gradient.data()[i] = (above - loss(moved)) / (2 * static_cast<double>(step));
  }
  return gradient;
}

inline void ExpectNear(const MatrixF& gradient, const MatrixD& expected, double share) {
  EXPECT_LT((gradient.cast<double>() - expected).norm(), share * expected.norm());
}

}  // namespace bitpool
