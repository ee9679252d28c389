#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/metrics/protocol.h"
#include "bitpool/samples/ground_truth.h"

namespace bitpool {

// Means over the queries of the results within one Hamming radius.
struct RadiusPoint {
  double precision = 0;  // a query without results counts as 0
  double recall = 0;
  double answered = 0;  // the share of the queries that have results
};

// How well queries were answered. All means are over the queries that have a relevant item, and NaN
// when there are none.
struct Evaluation {
  double mean_ap = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> ap;              // of each query; NaN where nothing is relevant
  Index queries_without_relevant = 0;  // left out of every mean
  std::vector<double> precision_at;    // for each k of the protocol's `at`
  std::vector<double> recall_at;
  std::vector<RadiusPoint>
      curve;  // for the radii 0 … bits; empty where distances are not Hamming's
};

// Ranks all codes of the database by their Hamming distance to each query. Throws kInvalidArgument,
// with both numbers, when lengths or sizes do not agree.
Evaluation EvaluateCodes(const BinaryCodes& database, const BinaryCodes& queries,
                         const GroundTruth& truth, const Protocol& protocol,
                         const RunContext& context);

// Ranks all codes of the database by h·b, where h, a column of `weights` for each query, weighs the
// bits (HashEncoder::Project gives it) and b in {−1, 1} is the stored code; the largest is best,
// and equal codes are ties. Throws kInvalidArgument, with both numbers, when lengths or sizes do
// not agree, and for weights that are not numbers.
Evaluation EvaluateAsymmetric(const BinaryCodes& database, const MatrixFRef& weights,
                              const GroundTruth& truth, const Protocol& protocol,
                              const RunContext& context);

// Writes the distance of every item of the database to a query; the nearest is best. Called from
// many threads at once.
using DistanceFunction = std::function<void(Index query, std::span<float> distances)>;

// Ranks by real distances, of which equal ones are ties. Throws kInvalidArgument, naming the query
// and the item, for a distance that is not a number.
Evaluation EvaluateDistances(const DistanceFunction& distances, const GroundTruth& truth,
                             const Protocol& protocol, const RunContext& context);

}  // namespace bitpool
