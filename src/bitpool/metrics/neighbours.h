#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/samples/ground_truth.h"

namespace bitpool {

// The nearest database columns of each query, by (distance, number of the column).
struct Neighbours {
  Index k = 0;                           // of each query
  std::vector<int32_t> ids;              // k for each query, nearest first
  std::vector<float> squared_distances;  // of the same

  // The first `nearest` of each query as right answers. Throws kInvalidArgument unless
  // 1 <= nearest <= k.
  ListedTruth Truth(Index database_size, Index nearest) const;
};

// The exact Euclidean nearest neighbours: what comparing all distances in double precision would
// give. Reads the database once; keeps the queries and about 20 bytes for each neighbour in memory.
// Throws kInvalidArgument when there are fewer database columns than k, when dimensions differ,
// and, naming the column, for values that are not finite or too large to be squared.
Neighbours FindNeighbours(const ColumnSource& database, const ColumnSource& queries, Index k,
                          const RunContext& context);

}  // namespace bitpool
