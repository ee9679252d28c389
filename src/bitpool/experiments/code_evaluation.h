#pragma once

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/metrics/evaluate.h"
#include "bitpool/samples/ground_truth.h"

namespace bitpool {

// How well the codes of a model answer, asked in both ways.
struct CodeEvaluation {
  Evaluation hamming;     // by the queries' codes
  Evaluation asymmetric;  // by the real numbers whose signs those are
};

// `codes` are those of the database; the queries are vectors, a column each. Throws as
// EvaluateCodes.
CodeEvaluation EvaluateBothWays(const HashModel& model, const BinaryCodes& codes,
                                const MatrixF& queries, const GroundTruth& truth,
                                const Protocol& protocol, const RunContext& context);

}  // namespace bitpool
