#pragma once

#include <memory>
#include <string>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/ridge.h"
#include "bitpool/linalg/shards.h"

namespace bitpool {

// The weights of the terms of a relaxed autoencoder, per sample and in the units of its data:
//   (1/m)‖T − W₂B − c₂1ᵀ‖² + λ (1/m)‖B − W₁X − c₁1ᵀ‖² + λρ₁‖W₁‖² + ρ₂‖W₂‖²
// This is eq:obj_2 divided by m/2, with ρ₁ = β/(λm) and ρ₂ = β/m.
struct AutoencoderWeights {
  double quantisation = 0;   // λ: how much the codes must be predictable from the inputs
  double encoder_ridge = 0;  // ρ₁, against the variance of the inputs
  double decoder_ridge = 0;  // ρ₂, against the variance of the bits, at most 1
};

// The second of the paper's two solvers: encoder (W₁, c₁), decoder (W₂, c₂) and codes B of inputs X
// and targets T. T = X is the Relaxed Binary Autoencoder (section III), T = labels is the hashing
// step of SASH.
//
// Each Iterate() is one turn of alg1's loop and reads the sources once. W and c come in closed form
// from sums alone (eq:W1 to eq:c2); unlike in the paper, which alternates between W and c, they are
// solved jointly: regress on centred data, then set the biases. The same pass over the data then
// sweeps over the bits of B (eq:bk) and sums what the next W and c need.
class RelaxedAutoencoder {
 public:
  // What shards have: the inputs X and the targets T as columns, the codes B as noted bytes.
  struct Names {
    std::string inputs = kInputs;
    std::string targets = {};  // empty: the targets are the inputs
    std::string codes = "codes";
  };

  // Starts from the codes that the shards have noted, or from those of an encoder, which it has
  // them note. `moments` are those of the inputs. The shards must outlive this. Reads them once.
  RelaxedAutoencoder(const AutoencoderWeights& weights, Shards& shards, Names names,
                     const Moments& moments, int bits, const LinearMap* initial,
                     const RunContext& context);
  // The same for sources, which must outlive this, and codes to start from; `targets` is null where
  // the targets are the inputs.
  RelaxedAutoencoder(const AutoencoderWeights& weights, const ColumnSource& inputs,
                     const Moments& moments, const ColumnSource* targets,
                     const BinaryCodes& initial, const RunContext& context);
  ~RelaxedAutoencoder();

  // (W, c)-step, then B-step. A stop leaves the maps of the last complete iteration.
  TrainingIteration Iterate(const RunContext& context);

  // The encoder and decoder of the codes as they are now: what the next iteration would begin with.
  // The paper returns those its last B-step began with; these are free, and never worse.
  LinearMap Encoder() const;
  LinearMap Decoder() const;

  // B, while no Iterate was cut short. REQUIRES: made from sources.
  BinaryCodes codes() const;

 private:
  struct Local;
  struct Step;

  RelaxedAutoencoder(const AutoencoderWeights& weights, std::unique_ptr<Local> local,
                     const Moments& moments, const BinaryCodes& initial, const RunContext& context);

  double samples() const { return static_cast<double>(shards_.size()); }
  Step MakeStep() const;
  TrainingIteration Measure(const Step& step, const Sums& sums) const;
  const MatrixD& TargetSums(const Sums& sums) const {
    return sums[names_.targets.empty() ? "inputs" : "targets"];
  }

  AutoencoderWeights weights_;
  std::unique_ptr<Local> local_;  // where it was made from sources
  Shards& shards_;
  Names names_;
  int bits_;
  VectorD input_mean_;
  VectorD target_mean_;
  double target_squares_;  // Σ‖t‖², relative to the mean
  RidgeSolver encoder_solver_;
  // What W and c are made of, for the codes as they are; inputs and targets relative to their
  // means: "inputs" Σ b xᵀ, "targets" Σ b tᵀ (empty where the targets are the inputs), "codes"
  // Σ b bᵀ, "bits" Σ b, "flipped".
  Sums sums_;
};

}  // namespace bitpool
