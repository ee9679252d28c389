#pragma once

#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/linalg/ridge.h"
#include "bitpool/pool/pooling_system.h"
#include "bitpool/samples/feature_set.h"

namespace bitpool {

struct LearnPoolingOptions {
  double temperature = 0.07;       // τ of the contrast
  bool normalise = true;           // give every local feature the length one first
  double mu = PoolingRecipe().mu;  // μ to begin with
  int steps = 80;                  // each pools 2 × batch images, and solves as many systems again
  Index batch = 128;               // pictures of a step
  double map_rate = 1e-3;          // the learning rates, which fall as a cosine: of the hash
  double attention_rate = 0.1;     // functions, of a,
  double mu_rate = 5e-2;           // and of log μ
  double tolerance = 1e-3;         // relative residual of the pooling systems

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

struct LearnedPooling {
  PoolingRecipe recipe;        // with attention and μ as learned
  std::vector<double> losses;  // of every step
  bool interrupted = false;    // a stop was asked for; the recipe is that of the last step
};

// Learns how to pool by the contrast of views: attention a and log μ of
//   φ = (V diag(w) Vᵀ + μI)⁻¹ Vw,  w(v) = exp(aᵀv) with the mean 1,
// and the hash functions with them, since each must follow the others. Begins at generalised max
// pooling (a = 0) with the hash functions `start`, which belong to vectors of that pooling. The
// hash functions that are found are those of few steps and are not returned: the caller pools all
// images again and learns them from the start.
//
// The mean of the vectors of a step is subtracted before they are mapped: a change of μ moves all
// vectors together, which should not move codes.
//
// Descriptors are read again in every step, so that memory stays bounded. Images that cannot be
// pooled are left out together with their picture. An interruption after the first step leaves what
// was found by then. Throws kInvalidArgument without views, for fewer than two pictures, and for a
// start that does not fit.
LearnedPooling LearnPooling(const LearnPoolingOptions& options, const FeatureSet& features,
                            Index per_picture, const LinearMap& start, const RunContext& context);

// Images of a set that were pooled together.
struct PooledBatch {
  const FeatureSet& features;
  bool normalise = true;      // every local feature was given the length one
  std::vector<Index> images;  // which of the set
  MatrixF vectors;            // φ of each
};

// The gradient with respect to a and log μ of Σ ⟨gradient(i), h(i)⟩ over the images of a batch, of
// which φ̄ is the mean, for the hash functions
//   h = W (φ − φ̄) / unit + c.
// It is what a step of LearnPooling goes by. `weights` is W; the system is the one that pooled the
// batch.
PoolingGradient GradientOfPooling(const PoolingSystem& system, const PooledBatch& batch,
                                  const MatrixF& weights, float unit, const MatrixF& gradient,
                                  const RunContext& context);

}  // namespace bitpool
