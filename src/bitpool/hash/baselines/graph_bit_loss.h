#pragma once

#include "bitpool/base/matrix.h"

namespace bitpool {

// The weights of GraphBit's loss. The defaults are the authors'.
struct GraphBitWeights {
  double certainty = 0.2;  // of bits that are far from the middle
  double fidelity = 0.4;   // of bits that are near what they are without edges
};

// For bits p, one row each, and p₀ that they are without edges,
//   100 [ mean (p̄ − 0.5)² − certainty · mean ln(|p − 0.5| + 0.5) + fidelity · mean (p₀ − p)² ],
// where p̄ is the mean of a row, and all others are means over all numbers.
struct GraphBitLoss {
  double loss = 0;
  MatrixF gradient;           // with respect to p
  MatrixF unlinked_gradient;  // with respect to p₀
};
GraphBitLoss ComputeGraphBitLoss(const GraphBitWeights& weights, const MatrixF& p,
                                 const MatrixF& unlinked);

// The same of one bit alone: the loss is the mean of these over the bits.
double GraphBitLossOfBit(const GraphBitWeights& weights, const VectorF& p, const VectorF& unlinked);

}  // namespace bitpool
