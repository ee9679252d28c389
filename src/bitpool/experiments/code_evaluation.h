#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/hash/hash_encoder.h"
#include "bitpool/metrics/evaluate.h"
#include "bitpool/samples/ground_truth.h"

namespace bitpool {

// How well codes answer, by both kinds of queries.
struct CodeEvaluation {
  Evaluation hamming;     // by the queries' codes
  Evaluation asymmetric;  // by the real numbers whose signs those are
};

// `codes` are those of the database. Throws as EvaluateCodes.
CodeEvaluation EvaluateBothWays(const BinaryCodes& codes, const EncodedVectors& queries,
                                const GroundTruth& truth, const Protocol& protocol,
                                const RunContext& context);

}  // namespace bitpool
