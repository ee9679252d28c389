#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/kernel_encoder.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/trained.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

struct BinaryReconstructiveEmbeddingOptions {
  int bits = 32;              // of a code
  KernelOptions kernel = {};  // the features the hash functions are linear in
  int landmarks = 50;         // random anchors a bit has weights for; all when there are fewer
  Index samples = 5000;       // random samples with a class whose labels are compared; 0: all
  int iterations = 50;        // passes over all weights, at most; 0: the weights stay as drawn
  double tolerance = 1e-4;    // stop when a pass lowers the objective by no more than this share

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Binary reconstructive embedding, BRE (Kulis and Darrell, NIPS 2009), with labels: the Hamming
// distance of two samples, over the number of bits, is to be 0 where they share a class and 1
// elsewhere. Starts with random weights and lowers the sum of the squared differences one weight
// after the other, setting each to the value at which the sum is smallest.
//
// Unlike in that paper,
// - the kernel is the Gaussian one of KSH, so that the two can be compared, centred by its mean
//   over all vectors, and the landmarks of all bits come from one set of anchors, not from all
//   samples;
// - all pairs of samples count, not a chosen set of them: for distances of 0 and 1 the sums over
//   all pairs are known without looking at each (reconstructive_codes.h).
//
// Vectors without a class take part in the kernel (its anchors, width and mean), but are not
// compared.
//
// An iteration is a pass over all weights; its objective is the mean squared difference, and
// `flipped` the share of the compared samples' bits that changed.
//
// Memory: 12 bytes for every anchor and 12 for every bit of a compared sample, and 4 for every two
// sets of classes that share one. Throws kInvalidArgument when the numbers of labels and vectors
// differ, for fewer than two classes, and for vectors that RequireTrainable refuses.
Trained<HashModel> TrainBinaryReconstructiveEmbedding(
    const BinaryReconstructiveEmbeddingOptions& options, const ColumnSource& vectors,
    const Labels& labels, const RunContext& context);

}  // namespace bitpool
