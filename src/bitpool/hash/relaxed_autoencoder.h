#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/ridge.h"

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
// from sums alone (eq:W1 to eq:c2); unlike the paper, which alternates between W and c, they are
// solved jointly: regress on centred data, then set the biases. The same pass over the data then
// sweeps over the bits of B (eq:bk) and sums what the next W and c need.
class RelaxedAutoencoder {
 public:
  // Codes to start from: packed rows of all samples, as BinaryCodes has them. `moments` are those
  // of the inputs; `targets` is null where the targets are the inputs. The sources must outlive
  // this. Reads them once.
  RelaxedAutoencoder(const AutoencoderWeights& weights, const ColumnSource& inputs,
                     const Moments& moments, const ColumnSource* targets,
                     const BinaryCodes& initial, const RunContext& context);
  // The initial codes are those of an encoder.
  RelaxedAutoencoder(const AutoencoderWeights& weights, const ColumnSource& inputs,
                     const Moments& moments, const ColumnSource* targets,
                     const HashEncoder& initial, const RunContext& context);

  // (W, c)-step, then B-step. A stop leaves the maps of the last complete iteration.
  TrainingIteration Iterate(const RunContext& context);

  // The encoder and decoder of the codes as they are now: what the next iteration would begin with.
  // The paper returns those its last B-step began with; these are free, and never worse.
  LinearMap Encoder() const;
  LinearMap Decoder() const;

  // B, while no Iterate was cut short.
  BinaryCodes codes() const { return {bits_, rows_}; }

 private:
  // What W and c are made of. Inputs and targets are relative to their means.
  struct Sums {
    MatrixD inputs;   // Σ b xᵀ, bits × D
    MatrixD targets;  // Σ b tᵀ, empty where the targets are the inputs
    MatrixD codes;    // Σ b bᵀ
    VectorD bits;     // Σ b
    uint64_t flipped = 0;
  };
  struct Step;
  struct Part;

  RelaxedAutoencoder(const AutoencoderWeights& weights, const ColumnSource& inputs,
                     const Moments& moments, const ColumnSource* targets, int bits,
                     const RunContext& context);

  // One pass over the sources: update(part, block) makes the codes of a chunk, which are summed.
  template <class Update>
  Sums Pass(const RunContext& context, const Update& update);
  void CentreInputs(Part& part, const ColumnsView& block) const;
  void LoadTargets(Part& part, Index first) const;
  void SumUp(Part& part) const;
  Step MakeStep() const;
  static void SweepBits(const Step& step, Part& part);
  TrainingIteration Measure(const Step& step, const Sums& sums) const;
  const MatrixD& TargetSums(const Sums& sums) const {
    return targets_ == nullptr ? sums.inputs : sums.targets;
  }

  AutoencoderWeights weights_;
  const ColumnSource& inputs_;
  const ColumnSource* targets_;
  int bits_;
  VectorD input_mean_;
  VectorD target_mean_;
  double target_squares_;  // Σ‖t‖², relative to the mean
  RidgeSolver encoder_solver_;
  std::vector<uint8_t> rows_;  // B, packed
  Sums sums_;                  // of B
};

}  // namespace bitpool
