#include "bitpool/experiments/code_evaluation.h"

namespace bitpool {

CodeEvaluation EvaluateBothWays(const BinaryCodes& codes, const EncodedVectors& queries,
                                const GroundTruth& truth, const Protocol& protocol,
                                const RunContext& context) {
  return {.hamming = EvaluateCodes(codes, queries.codes, truth, protocol, context),
          .asymmetric = EvaluateAsymmetric(codes, queries.projections, truth, protocol, context)};
}

}  // namespace bitpool
