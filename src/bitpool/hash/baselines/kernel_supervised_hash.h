#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/kernel_encoder.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/trained.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

struct KernelSupervisedHashOptions {
  int bits = 32;              // of a code
  KernelOptions kernel = {};  // the features the hash functions are linear in
  Index samples = 5000;       // random samples with a class whose labels are compared; 0: all
  int iterations = 500;       // of the gradient descent for a bit, at most; 0: spectral solution

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Kernel-based supervised hashing, KSH (Liu, Wang, Ji, Jiang and Chang, CVPR 2012): bit after bit,
// so that the inner products of codes, over the number of bits, come near +1 for samples that
// share a class and −1 for others. A bit starts as the solution without the sign function, an
// eigenvector; gradient descent with a smooth sign follows, and is kept where it makes the bit
// better, as in the program of the authors.
//
// Vectors without a class take part in the kernel (its anchors, width and mean), but are not
// compared. Unlike in that program, directions of the features that are too narrow for single
// precision are left out of the eigenvectors.
//
// An iteration is a bit; its objective is the mean squared difference of the labels (±1) and the
// inner products of the bits so far, over the number of all bits.
//
// Memory: 8 bytes for every anchor and bit of a compared sample, and 4 for every two sets of
// classes that share one. Throws kInvalidArgument when the numbers of labels and vectors differ,
// for fewer than two classes, and for vectors that RequireTrainable refuses.
Trained<HashModel> TrainKernelSupervisedHash(const KernelSupervisedHashOptions& options,
                                             const ColumnSource& vectors, const Labels& labels,
                                             const RunContext& context);

}  // namespace bitpool
