#pragma once

#include <cstddef>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/baselines/head_training.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/view_vectors.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

// The defaults are the settings of the authors' program.
struct CibHashOptions {
  int bits = 32;             // L
  Index hidden = 1024;       // units of the hidden layer
  double temperature = 0.3;  // τ
  double divergence = 1e-3;  // weight of the divergence of views
  int epochs = 60;           // how many times every picture is looked at
  Index batch = 64;          // pictures that are told apart in a step
  double learning_rate = 1e-3;
  // Vectors are kept in memory up to this size; when there are more, those of a batch are read.
  size_t memory = size_t{512} << 20;

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// CIBHash (Qiu, Su, Ou, Yu and Chen, IJCAI 2021: a contrastive information bottleneck) on vectors
// of a network that stays as it is: two layers, z = W₂ max(0, W₁x + b₁) + c, whose signs are codes
// by which two views of a picture are told from other pictures, and whose probabilities σ(z) agree
// for both. Every epoch uses two random images of each picture; the optimiser is Adam.
//
// An iteration's objective is the mean loss of a tenth of the steps. Throws kInvalidArgument
// without views. method "cibhash".
Trained<HashModel> TrainCibHash(const CibHashOptions& options, const ViewVectors& images,
                                const RunContext& context);

// The contrast of the codes sgn(z) (ComputeContrastLoss), with the gradient of σ(z) in place of the
// sign's, and the mean over pictures of
//   divergence · Σ_bits ½ (KL(p ‖ q) + KL(q ‖ p)) = divergence · Σ_bits ½ (p − q)(z − z′)
// where p = σ(z) and q = σ(z′) are of the two images. Columns 2i and 2i + 1 are those of picture i.
HeadLoss ComputeCibLoss(const MatrixF& outputs, double temperature, double divergence,
                        const RunContext& context);

}  // namespace bitpool
