#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/two_layer_encoder.h"
#include "bitpool/hash/view_vectors.h"
#include "bitpool/linalg/ridge.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

struct ContrastOptions {
  double temperature = 0.1;     // τ: 0.05 to 0.1 when searching for instances, 0.3 for classes
  int epochs = 60;              // how many times every picture is looked at
  Index batch = 512;            // pictures that are told from each other in a step
  Index hidden = 0;             // units of a hidden layer beside the linear map; 0: none
  double learning_rate = 3e-4;  // of the first step; falls as a cosine
  double weight_decay = 1e-4;   // decoupled; biases do not decay
  // Vectors are kept in memory up to this size; when there are more, those of a batch are read.
  size_t memory = size_t{512} << 20;

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Where a training stands after an epoch: all that the next one needs, beside the vectors.
struct ContrastState {
  std::vector<TrainingIteration> iterations;  // one per epoch
  TwoLayerMap map;           // of vectors with their mean removed and in a scale of their own
  TwoLayerMap mean, square;  // what Adam remembers of the gradients
};

// Called after every epoch, for example to write a checkpoint.
using ContrastObserver = std::function<void(const ContrastState&)>;

struct ContrastRun {
  std::optional<ContrastState> resume = {};  // where to go on
  ContrastObserver observer = {};
};

// The contrast of views: codes by which a view of a picture finds that picture among all others of
// a batch (ComputeContrastLoss), so that they ignore what views differ in.
//
// Begins at `start`, divided so that every bit has deviation one before it is rounded; its rows are
// the bits. With a hidden layer, W₂ begins at zero: the first code is that of `start` too. Steps of
// AdamW on random batches, two random images of each picture; time is linear in the number of
// pictures.
//
// The objective of an iteration record is the mean loss of an epoch; method "sav". The encoder is
// linear without a hidden layer, and of two layers with one. An interruption after the first epoch
// leaves the model found by then. Throws kInvalidArgument without views, for fewer than two
// pictures, for a start that does not fit, and when the state to resume is of another size.
Trained<HashModel> TrainContrast(const ContrastOptions& options, const ViewVectors& views,
                                 const LinearMap& start, const RunContext& context,
                                 ContrastRun run = {});

}  // namespace bitpool
