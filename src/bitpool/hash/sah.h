#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/dataset/feature_set.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/image_record.h"
#include "bitpool/hash/rba.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

struct SahOptions {
  int bits = 32;          // L
  int iterations = 4;     // T of alg2, at most
  RbaOptions rba = {};    // λ, β, T₁ and the scale of the constants; its bits are set to `bits`
  double gamma = 10;      // γ, the weight of the aggregation against the reconstruction
  double mu = 10;         // μ, how much a large φ costs
  bool normalise = true;  // give every local feature the length one first
  double tolerance = 1e-3;    // relative residual of the pooling systems while training
  double min_flipped = 1e-3;  // stop when new vectors change no more than this share of the bits

  // The paper's values: λ = 0.01, β = 0.1, γ = 10, μ = 100, in the paper's own scale.
  static SahOptions Paper(int bits);

  // Throws kInvalidArgument when a field has no meaning.
  void Validate() const;
};

// Where a training stands after an iteration: all that the next one needs, beside the records.
struct SahState {
  std::vector<TrainingIteration> iterations;
  MatrixF vectors;       // Φ
  BinaryCodes codes{1};  // B
  LinearMap encoder, decoder;
  double gamma = 0;  // γ of the coupled system, in the units of the vectors
};

// Called after every iteration, for example to write a checkpoint.
using SahObserver = std::function<void(const SahState&)>;

struct SahRun {
  std::optional<SahState> resume = {};  // where to go on
  SahObserver observer = {};
};

// Simultaneous aggregating and hashing (section IV, alg2), from the records of images: Φ⁰ by
// generalised max pooling, then iterations that learn the hash functions from Φ (the relaxed
// autoencoder, from the codes of the iteration before) and Φ from the hash functions (eq:sol_pool,
// starting from the Φ before).
//
// The objective of an iteration's record is that of eq:obj_ori_join with the binary constraint
// relaxed as in eq:obj_2, × 2, per image and in the scale of the constants: reconstruction +
// λ quantisation + regularisation + γ aggregation. The terms of the hash functions are those at the
// Φ they were learned from, the aggregation is that of the Φ learned from them; the sum may
// therefore rise, though every step lowers what it minimises.
//
// options.normalise must be what the records were reduced with: the model does the same with new
// images. An interruption after the first iteration leaves the model found by then. Throws
// kInvalidArgument when the state to resume is of other images or bits. method "sah".
Trained<HashModel> TrainSah(const SahOptions& options, const RecordStore& records,
                            const RunContext& context, SahRun run = {});

// The same from the images themselves, whose records are kept in memory. Images without descriptors
// are left out and named in the summary.
Trained<HashModel> TrainSah(const SahOptions& options, const FeatureSet& features,
                            const RunContext& context);

}  // namespace bitpool
