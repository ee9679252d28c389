#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

struct KMeansHashOptions {
  int bits = 32;          // of a code, at most the dimension of the data
  int subspace_bits = 4;  // of a subspace, 1 to 8; the last gets what is left. 4 is what the
                          // authors advise for most data, and 2 for SIFT at 32 bits; 8 is a little
                          // better on GIST, and much slower
  double lambda = 10;     // weight of the affinity error
  int iterations = 50;    // at most; 0: PCA hashing with the subspaces' scales
  double tolerance = 1e-5;  // stop when the objective changes by less than this share of itself
  Index samples = 0;        // random samples to train on; 0: all. Never more than 512 MiB hold at
                            // 4 × dimension bytes each

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// K-means hashing (He, Wen and Sun, CVPR 2013): in each of several subspaces a k-means quantiser
// whose codewords are as far from each other as their binary indices tell (AffinityCodebook). The
// subspaces are made of principal components, dealt out so that the products of their variances are
// about equal (eigenvalue allocation of Ge, He, Ke and Sun, "Optimized Product Quantization", CVPR
// 2013).
//
// An iteration's objective is the sum of E_quan + λ E_aff over the subspaces, after the codewords
// were updated. It may rise a little from one iteration to the next, as the weights of E_aff change
// with the assignment.
//
// Throws kInvalidArgument for more bits than dimensions, fewer samples than a subspace has
// codewords, and data that RequireTrainable refuses.
Trained<HashModel> TrainKMeansHash(const KMeansHashOptions& options, const ColumnSource& source,
                                   const RunContext& context);

}  // namespace bitpool
