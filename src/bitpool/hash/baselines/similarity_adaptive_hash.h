#pragma once

#include <cstddef>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/baselines/anchor_graph.h"
#include "bitpool/hash/baselines/graph_codes.h"
#include "bitpool/hash/baselines/head_training.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

// The defaults are the settings of the authors, but for the epochs, the learning rate and two
// weights of the codes (GraphCodeOptions), which are ours.
struct SimilarityAdaptiveHashOptions {
  int bits = 32;  // L
  int rounds = 3;
  int epochs = 10;              // of the layer, in each round
  Index batch = 20;             // vectors of a step
  double learning_rate = 3e-4;  // divided by ten after half of the steps of a round
  AnchorGraphOptions graph = {};
  GraphCodeOptions codes = {};
  // Vectors are kept in memory up to this size; when there are more, those of a batch are read.
  size_t memory = size_t{512} << 20;

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Similarity-adaptive deep hashing (Shen et al., TPAMI 2018) on vectors of a network that stays as
// it is. In each round, a graph of anchors says which samples are alike, in the first by their
// vectors and later by what the layer makes of them; codes are found that agree with it
// (GraphCodeSolver); and a linear layer with tanh learns these codes. The codes of the first round
// begin with those of ITQ, later ones with what the layer gives.
//
// An iteration is a round: its objective is that of the codes per sample, `quantisation` the mean
// squared distance of the layer's outputs from the codes after the round, `flipped` the bits that
// the round changed. Keeps about 64 bytes per bit and sample. method "sadh".
Trained<HashModel> TrainSimilarityAdaptiveHash(const SimilarityAdaptiveHashOptions& options,
                                               const ColumnSource& vectors,
                                               const RunContext& context);

// 1/N Σ ‖tanh z − b‖² of the N columns of a batch, and its gradient with respect to z.
HeadLoss ComputeCodeLoss(const MatrixF& outputs, const MatrixF& codes);

}  // namespace bitpool
