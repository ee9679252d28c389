#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

struct PcaHashOptions {
  int bits = 32;  // of a code, at most the dimension of the data

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// PCA hashing (Wang, Kumar and Chang, CVPR 2010): the signs of the first principal components of
// the centred data. Throws kInvalidArgument for more bits than dimensions, and for data that
// RequireTrainable refuses.
Trained<HashModel> TrainPcaHash(const PcaHashOptions& options, const ColumnSource& source,
                                const RunContext& context);

}  // namespace bitpool
