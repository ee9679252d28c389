#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

struct LshOptions {
  int bits = 32;  // of a code; may be more than the dimension

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Locality-sensitive hashing by random hyperplanes (Charikar, STOC 2002) through the mean of the
// samples: the signs of W(x − mean), W of independent normal numbers. Of the data only the mean is
// learned (and the decoder). Throws kInvalidArgument for data that RequireTrainable refuses.
Trained<HashModel> TrainLsh(const LshOptions& options, const ColumnSource& source,
                            const RunContext& context);

}  // namespace bitpool
