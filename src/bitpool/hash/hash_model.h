#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/hash/hash_encoder.h"
#include "bitpool/linalg/ridge.h"
#include "bitpool/linalg/trained.h"
#include "bitpool/pool/pooling_system.h"

namespace bitpool {

// One step of a trainer that improves its codes step by step. What a method does not have is zero.
struct TrainingIteration {
  double objective = 0;       // what the method minimises, as its trainer says
  double reconstruction = 0;  // mean squared error of the decoder on the training codes
  double quantisation = 0;    // mean squared distance of the codes from the encoder's output
  double aggregation = 0;  // mean of ‖Vᵀφ − 1‖² + μ‖φ‖², where local features are pooled
  double flipped = 0;  // share of the bits that changed
  double seconds = 0;
};

// How a model was found.
struct TrainingSummary {
  Index samples = 0;
  std::vector<TrainingIteration> iterations = {};
  std::vector<std::string> skipped = {};  // images without descriptors
  bool converged = false;    // ended by its own criterion, not by the number of iterations
  bool interrupted = false;  // a stop was asked for; the model is that of the last iteration
  double seconds = 0;

  std::string BriefReport() const;
};

// How the vectors of a model are made of an image's local features V.
struct PoolingRecipe {
  bool normalise = true;            // every local feature is scaled to length one first
  double mu = PoolingOptions().mu;  // μ
  double gamma = 0;  // γ of the system coupled with the model's own maps (eq:sol_pool); 0:
                     // generalised max pooling (eq:gmp-solution)
  MatrixF metric =
      {};  // F of a coupled system that measures reconstructions in FᵀF; empty: the plain metric
  VectorF attention = {};  // a of the weights of local features (pool/descriptor_weights.h); empty:
                           // all count alike
};

// What every method learns: an encoder to bits, and a linear decoder x ≈ W₂b + c₂ of b in {−1, 1},
// so that the reconstruction errors of methods can be compared.
struct HashModel {
  using Summary = TrainingSummary;

  std::string method;  // "rba", "itq", …
  std::shared_ptr<const HashEncoder> encoder;
  LinearMap decoder;
  std::optional<PoolingRecipe> pooling = {};  // none: the model takes vectors

  Index dimension() const { return encoder->dimension(); }
  int bits() const { return encoder->bits(); }

  // W₂b + c₂ of every code.
  MatrixF Reconstruct(const BinaryCodes& codes) const;
};

// Throws kInvalidArgument for a model whose pooling is coupled with its own maps: vectors that were
// pooled without these would get other codes.
void RequireTakesVectors(const HashModel& model);

// The decoder of an encoder whose method brings none: the least-squares fit of the samples to their
// own codes, as the paper does for ITQ. Bits that are constant get weight zero.
LinearMap FitDecoder(const HashEncoder& encoder, const ColumnSource& source,
                     const RunContext& context);

// Mean of ‖x − Reconstruct(Encode(x))‖² over the samples.
double ReconstructionError(const HashModel& model, const ColumnSource& source,
                           const RunContext& context);

// What every trainer needs of its data: at least two samples, finite numbers that vary.
// Throws kInvalidArgument with a reason that a user understands.
void RequireTrainable(const Moments& moments);

// The codes as a matrix of −1 and +1, a column per code.
MatrixF SignsOf(const BinaryCodes& codes, Index first, Index count);

}  // namespace bitpool
