#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/view_vectors.h"
#include "bitpool/linalg/sums.h"

namespace bitpool {

// What whitening by views needs to know of images, from one pass over them and one product. The
// sums add up over shards of pictures.
//
// The differences of K images of a picture have K − 1 dimensions: with the contrasts
//   uₖ = (φ₁ + … + φₖ − kφₖ₊₁) / √(k(k + 1)),   k = 1 … K − 1,
// Σ uₖuₖᵀ is the scatter of the images about their mean. So the product needs a column less for
// every picture, nothing is lost, as it would be by subtracting one scatter from another, and
// images that are alike have contrasts of exactly zero.
//
//   "within"    D × D, lower triangle: Σ uₖuₖᵀ over all pictures
//   "means"     D: the sum of the means φ̄ of the pictures
//   "squares"   Σ‖φ̄‖²
//   "pictures"  their number
Sums BlankViewSums(Index dimension);

// Of a shard at this place, which counts pictures. Throws kInvalidArgument for numbers that are not
// finite, and names the column.
SumTerms<Sums> SumViews(const ShardPlace& pictures, const ViewVectors& images,
                        const RunContext& context);

// Of all pictures.
Sums SumViews(const ViewVectors& images, const RunContext& context);

}  // namespace bitpool
