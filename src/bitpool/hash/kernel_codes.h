#pragma once

#include <cstddef>
#include <memory>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/kernel_encoder.h"
#include "bitpool/hash/rba.h"
#include "bitpool/linalg/column_source.h"

namespace bitpool {

// Options of hash functions on a kernel map. The defaults were chosen by cross-validation on
// training images of CIFAR-10.
struct KernelCodeOptions {
  int anchors = 0;      // random training vectors, all of them when there are fewer; 0: no kernel
  double width = 1;     // σ, as a multiple of the one that DrawKernel finds
  double ridge = 1e-7;  // of the encoder, relative to the total variance of k
  // ω: codes are made of the vectors too, in the metric of the classes, where their total variance
  // counts as ω² times that of the labels. 0: of the labels alone, which serves classes that are
  // learned; 0.5 to 2 serve classes that were never seen.
  double vectors = 0;
  // k of all vectors is kept in memory if it is not larger than this, and otherwise made again in
  // every pass.
  size_t memory = size_t{512} << 20;

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// The hash functions h = W₁k(x) + c₁ on a kernel map k of vectors, a ridge regression of codes. The
// first codes are those that ITQ makes of the labels, a column each, as k predicts them.
//
// Without ω the relaxed autoencoder with inputs k(X) and the labels as targets improves them; λ and
// the number of iterations are those of `constants`.
//
// With ω the first codes are made of the labels and, below them, of the vectors, in which classes
// that have no label here differ. The vectors are whitened by the learned classes
// (WhitenByClasses), so that what varies within every class counts little. These codes stay as they
// are: improving them would tell the learned classes apart better, and others worse.
//
// An interruption leaves the encoder of the codes found by then; the first codes are always made.
// `summary` records it. REQUIRES: options.anchors > 0, as many labels as vectors.
std::shared_ptr<const KernelEncoder> LearnKernelCodes(const KernelCodeOptions& options, int bits,
                                                      const RbaConstants& constants,
                                                      const ColumnSource& vectors,
                                                      const ColumnSource& labels,
                                                      const RunContext& context,
                                                      TrainingSummary& summary);

}  // namespace bitpool
