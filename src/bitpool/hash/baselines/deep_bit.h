#pragma once

#include <cstddef>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/baselines/head_training.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/view_vectors.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

// The defaults are the settings of the authors' program.
struct DeepBitOptions {
  int bits = 32;                // L
  Index steps = 50'000;         // of the first stage
  Index batch = 32;             // vectors of a step
  double learning_rate = 1e-3;  // divided by ten after half of the steps
  Index view_steps = 5000;      // of the second stage, where there are views
  Index view_batch = 6;       // pictures of a step, with all of their views: the authors' 30 images
  double view_rate = 1e-4;    // its learning rate
  double view_weight = 1e-3;  // of the distance of views from their picture
  // Vectors are kept in memory up to this size; when there are more, those of a batch are read.
  size_t memory = size_t{512} << 20;

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// DeepBit (Lin, Lu, Chen and Zhou, CVPR 2016) on vectors of a network that stays as it is: a linear
// layer with f = max(0, Wx + c), whose outputs are to be near 0 or 1, and each of them half of the
// time. The second stage draws the outputs of a picture's views towards those of the picture; it is
// left out where there are no views. A bit is 1 where f is above one threshold for all bits, the
// mean of all outputs of the training images.
//
// An iteration's objective is the mean loss of a tenth of a stage's steps. method "deepbit".
Trained<HashModel> TrainDeepBit(const DeepBitOptions& options, const ViewVectors& images,
                                const RunContext& context);

// The loss of a batch of outputs z = Wx + c before the rectifier, and its gradient with respect to
// them. With f = max(0, z), b = [f > 0.5] (held) and N columns,
//   Σ_bits (mean f − 0.5)² + 1/N Σ (b − f)² + weight/N Σ_views w ‖f_view − f_picture‖².
// Every picture has `per_picture` columns, itself first; 1: there are no views. The authors' views
// are rotations by k·5°, k = −2 … 2, with w = exp(−k²/2); ours are not ordered, and all of them
// have the mean of these weights.
HeadLoss ComputeDeepBitLoss(const MatrixF& outputs, Index per_picture, double view_weight);

}  // namespace bitpool
