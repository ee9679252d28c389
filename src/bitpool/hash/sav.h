#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/contrast.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/view_vectors.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

struct SavOptions {
  int bits = 32;  // L
  ContrastOptions contrast = {};
  // Learn how to pool by the same contrast first (LearnPooling). For the caller that pools the
  // images: the vectors that TrainSav gets are already pooled.
  bool learn_pooling = false;

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Simultaneous aggregating and views: the contrast of views (see TrainContrast), begun at the codes
// that ITQ makes of all images. The vectors are to be whitened by their views, so that the
// beginning is the closed form. method "sav".
Trained<HashModel> TrainSav(const SavOptions& options, const ViewVectors& views,
                            const RunContext& context, ContrastRun run = {});

}  // namespace bitpool
