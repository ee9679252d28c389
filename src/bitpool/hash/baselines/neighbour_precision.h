#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"

namespace bitpool {

// How well codes keep the neighbours of some of their own samples: the precision of the k nearest
// codes when the k nearest vectors are the truth. Of equally near ones the first are taken. A query
// is one of the samples and finds itself too.
class NeighbourPrecision {
 public:
  // Finds the true neighbours, from scratch. REQUIRES: 1 <= neighbours <= samples.cols(), queries
  // in [0, samples.cols()).
  NeighbourPrecision(const MatrixF& samples, std::vector<Index> queries, Index neighbours,
                     const RunContext& context);

  // REQUIRES: a code for each sample.
  double Of(const BinaryCodes& codes, const RunContext& context) const;

 private:
  std::vector<Index> queries_;
  Index neighbours_;
  std::vector<std::vector<Index>> truth_;  // for each query, ascending
};

}  // namespace bitpool
