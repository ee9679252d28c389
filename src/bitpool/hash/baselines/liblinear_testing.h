#pragma once

#include <memory>

#include "bitpool/hash/baselines/bit_svms.h"

// Another solver of the same problem, for the tests of this room.
namespace bitpool {

// liblinear's trust-region Newton method on the primal problem, bit by bit in parallel: the solver
// of the authors of the binary autoencoder. liblinear's dual solvers shuffle with rand(), which all
// threads share, and take no starting point; this one has no randomness and gives the same result
// at any number of threads. Copies the samples, 16 bytes for each value.
std::unique_ptr<BitSvms> MakeLiblinearSvms(const BitSvmOptions& options, const MatrixF& samples);

}  // namespace bitpool
