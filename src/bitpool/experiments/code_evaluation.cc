#include "bitpool/experiments/code_evaluation.h"

namespace bitpool {

CodeEvaluation EvaluateBothWays(const HashModel& model, const BinaryCodes& codes,
                                const MatrixF& queries, const GroundTruth& truth,
                                const Protocol& protocol, const RunContext& context) {
  const MatrixF weights = model.encoder->Project(queries);
  return {
      .hamming = EvaluateCodes(codes, BinaryCodes::FromSigns(weights), truth, protocol, context),
      .asymmetric = EvaluateAsymmetric(codes, weights, truth, protocol, context)};
}

}  // namespace bitpool
