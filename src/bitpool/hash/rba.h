#pragma once

#include <string_view>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/itq.h"
#include "bitpool/hash/relaxed_autoencoder.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/shards.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

// What the constants λ and β are relative to.
enum class ConstantScale {
  // The data as if multiplied by s so that its total variance is the number of bits (one unit of
  // variance per bit), and means over the samples instead of sums. The same constants then mean
  // the same for any scale of the data and any number of samples.
  kUnitVariancePerBit,
  // The data as it is, and sums over the samples: literally eq:obj_2.
  kLiteral,
};

// The options of RBA but for the length of the codes: what the joint methods, whose hash functions
// are learned in the same way, share with it.
struct RbaConstants {
  int iterations = 10;   // T₁, at most
  double lambda = 0.01;  // weight of the quantisation loss
  double beta = 2e-4;    // weight of ‖W₁‖² + ‖W₂‖²
  ConstantScale scale = ConstantScale::kUnitVariancePerBit;
  double min_flipped = 1e-5;  // stop when fewer than this share of the bits change

  // The paper's values: λ = 0.01, β = 1, T₁ = 10, in the paper's own scale.
  static RbaConstants Paper();

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

struct RbaOptions : RbaConstants {
  int bits = 32;  // L; may exceed the dimension of the data

  // Options with the constants of RbaConstants::Paper.
  static RbaOptions Paper(int bits);

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// The Relaxed Binary Autoencoder (section III, alg1): min over W, c, B of eq:obj_2, initialised by
// ITQ. Reads the source once for the moments, once for ITQ, once for the initial codes and once
// for each iteration; keeps one bit per sample and bit besides ITQ's projections.
//
// An interruption after the first iteration leaves the model found by then. method "rba".
Trained<HashModel> TrainRba(const RbaOptions& options, const ColumnSource& source,
                            const RunContext& context);
// The same for vectors in shards.
Trained<HashModel> TrainRba(const RbaOptions& options, Shards& shards, const RunContext& context);

// λ and β in the units of data with this total variance.
AutoencoderWeights WeightsFor(const RbaConstants& constants, int bits, double total_variance,
                              Index samples);

}  // namespace bitpool
