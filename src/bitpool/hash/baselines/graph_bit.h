#pragma once

#include <cstddef>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/baselines/bit_graph.h"
#include "bitpool/hash/baselines/graph_bit_loss.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

// There are as many outputs as the square of this.
inline constexpr int kMostGraphBits = 256;

// The defaults are the settings of the authors' program.
struct GraphBitOptions {
  int bits = 32;                // L, at most kMostGraphBits
  int epochs = 5;               // of learning the outputs, before and after the edges are chosen
  int edge_epochs = 3;          // of choosing edges
  Index batch = 32;             // vectors of a step
  double learning_rate = 4e-4;  // of RMSprop
  GraphBitWeights weights = {};
  EdgeAgentOptions agent = {};
  // Vectors are kept in memory up to this size; when there are more, those of a batch are read.
  size_t memory = size_t{512} << 20;

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// GraphBit (Duan et al., CVPR 2018) on vectors of a network that stays as it is. There are L²
// linear outputs (i, j); bit j is the mean of (j, j) and of all (i, j) whose edge i → j a graph of
// bits has. The outputs are learned without edges; then an agent adds and removes edges by how far
// the loss falls, one at a time, with as many actions for every batch as there are bits; then the
// outputs are learned again. A bit of the code is 1 where p is above its mean.
//
// The authors' outputs come from three linear layers in a row with nothing between them, which is
// one linear layer and is learned as such. Their agent is a network, ours a table (EdgeAgent).
// Graph and outputs are all linear, and so is the encoder.
//
// An iteration's objective is the mean loss of a tenth of the steps of a stage. method "graphbit".
Trained<HashModel> TrainGraphBit(const GraphBitOptions& options, const ColumnSource& vectors,
                                 const RunContext& context);

}  // namespace bitpool
