#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

struct SphericalHashOptions {
  int bits = 32;                      // of a code, a sphere each; may exceed the dimension
  int iterations = 100;               // moves of the spheres, at most; 0: they stay as drawn
  double mean_tolerance = 0.10;       // stop when the overlaps of pairs of spheres differ from a
                                      // quarter of the samples by this share of it on average,
  double deviation_tolerance = 0.15;  // and their standard deviation is this share of it
  Index samples = 0;                  // random samples the spheres are placed by; 0: all. Never
                                      // more than 512 MiB hold at 8 × bits bytes each

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Spherical hashing (Heo, Lee, He, Chang and Yoon, CVPR 2012): spheres that each hold half of the
// samples, and in pairs a quarter. Every centre starts as the mean of five random samples; then
// centres whose spheres share too many samples repel each other, others attract each other, and the
// radii follow.
//
// An iteration's objective is the mean of |overlap − m/4| / (m/4) over the pairs of spheres, and
// `flipped` is the share of the samples that changed sides. The spherical Hamming distance of that
// paper is not implemented: codes of all methods are compared by the Hamming distance here, as in
// the comparison we reproduce.
//
// Reads the source a few times, and keeps of the samples only their products with the centres.
// Throws kInvalidArgument for data that RequireTrainable refuses.
Trained<HashModel> TrainSphericalHash(const SphericalHashOptions& options,
                                      const ColumnSource& source, const RunContext& context);

}  // namespace bitpool
