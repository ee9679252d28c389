#pragma once

#include <memory>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/hash/baselines/pairwise_labels.h"
#include "bitpool/hash/kernel_encoder.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

// What methods that compare labelled samples by their kernel features train on.
struct LabelledKernel {
  AnchorKernel kernel;
  VectorD mean;          // of k(x) over all vectors, labelled or not
  MatrixD features;      // k(x) − mean of the labelled samples, anchors × n
  PairwiseLabels pairs;  // of the same samples

  // h = W (k(x) − mean), with W bits × anchors.
  std::shared_ptr<const KernelEncoder> MakeEncoder(const MatrixD& weights) const;
};

// A kernel with anchors drawn among all vectors, and `samples` random vectors that have a class (0,
// or more than there are: all of these). Reads the source a few times.
//
// Throws kInvalidArgument when the numbers of labels and vectors differ, when fewer than two
// classes occur, and for vectors that RequireTrainable refuses.
LabelledKernel PrepareLabelledKernel(const KernelOptions& options, Index samples,
                                     const ColumnSource& vectors, const Labels& labels,
                                     const RunContext& context);

}  // namespace bitpool
