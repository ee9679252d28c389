#pragma once

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"

namespace bitpool {

// What is compared while the gradient is that of tanh(h) in either case.
enum class ContrastCodes {
  kSigns,  // sgn(h), the codes as they will be used: a straight-through gradient
  kTanh,   // tanh(h), of which the gradient is the exact one
};

struct ContrastLoss {
  double loss = 0;
  MatrixF gradient;  // of the loss, with respect to h
};

// Temperatures below this have exponentials that do not fit into single precision.
inline constexpr double kLeastTemperature = 0.025;

// The contrast of views (NT-Xent: Chen et al., ICML 2020). Columns 2i and 2i + 1 of h are two views
// of picture i. With the cosines s of the codes, the loss is the mean over all columns j of
//   −log( exp(s(j, j′)/τ) / Σ exp(s(j, k)/τ) ),  the sum over all k ≠ j,
// where j′ is the other view of the same picture: the cross-entropy of telling it from all others.
//
// O(L n²) for n columns, and n² numbers of memory. The same bits at any number of threads.
// REQUIRES: an even number of columns that is not zero; temperature >= kLeastTemperature
ContrastLoss ComputeContrastLoss(const MatrixF& projections, double temperature,
                                 ContrastCodes codes, const RunContext& context);

}  // namespace bitpool
