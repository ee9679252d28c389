#pragma once

#include "bitpool/base/matrix.h"

namespace bitpool {

// How much every descriptor of an image counts: w(v) = exp(aᵀv), divided so that the mean of the
// image is 1. `attention` is a, which says by its direction what counts more, and by its length how
// much more.
//
// REQUIRES: at least one descriptor, of the size of a. Descriptors with numbers that are not finite
// have weights that are not.
VectorD DescriptorWeights(const VectorF& attention, const MatrixFRef& descriptors);

// The gradient with respect to a of a function of the weights, from that with respect to them: with
// dw(i) = w(i) (v(i) − Σ w(j) v(j) / n)ᵀ da,
//   Σ gradient(i) w(i) (v(i) − Σ w(j) v(j) / n).
VectorD AttentionGradient(const MatrixFRef& descriptors, const VectorD& weights,
                          const VectorD& gradient);

}  // namespace bitpool
