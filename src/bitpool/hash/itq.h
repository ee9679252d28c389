#pragma once

#include <functional>
#include <string>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/shards.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

struct ItqOptions {
  int bits = 32;        // L; may exceed the dimension of the data
  int iterations = 50;  // at most, as the authors do
  // Projected samples are kept in memory up to this size. When there are more, a random sample of
  // them, as large as fits, finds the rotation, which has no more than bits² numbers.
  size_t memory = size_t{512} << 20;

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Iterative quantisation (Gong and Lazebnik, CVPR 2011): the principal components V of the data,
// rotated by the R that minimises ‖B − RV‖² with B = sgn(RV), found by alternating between B and R.
//
// With more bits than dimensions D, V has only D rows and R is a tall matrix with orthonormal
// columns (as if V were padded with zeros): each bit is then one of L directions in D dimensions.
//
// The objective of an iteration record is ‖B − RV‖² per sample; method "itq".
Trained<HashModel> TrainItq(const ItqOptions& options, const ColumnSource& source,
                            const RunContext& context);
// The same for vectors in shards.
Trained<HashModel> TrainItq(const ItqOptions& options, Shards& shards, const RunContext& context);

// Gives V, whose rows are at most the bits, of samples. Called from many threads.
using ItqProjection = std::function<MatrixF(const MatrixFRef& block)>;

// The alternation alone: R, bits × rows, of any V that is centred around zero. One pass over the
// source. The iterations are added to `summary`; an interruption after the first iteration leaves
// the rotation found by then and is noted there.
MatrixF FindItqRotation(const ItqOptions& options, const ItqProjection& project, Index rows,
                        const ColumnSource& source, const RunContext& context,
                        TrainingSummary& summary);

// The encoder alone, from moments that are known already: no decoder, one pass over the source.
LinearMap FindItqEncoder(const ItqOptions& options, const ColumnSource& source,
                         const Moments& moments, const RunContext& context,
                         TrainingSummary& summary);
// The same for columns of shards.
LinearMap FindItqEncoder(const ItqOptions& options, Shards& shards, const std::string& columns,
                         const Moments& moments, const RunContext& context,
                         TrainingSummary& summary);

}  // namespace bitpool
