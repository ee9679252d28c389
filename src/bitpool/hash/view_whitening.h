#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/view_vectors.h"
#include "bitpool/linalg/ridge.h"
#include "bitpool/linalg/sums.h"

namespace bitpool {

struct WhiteningOptions {
  // ε: this share of the mean variance within pictures is added in every direction. Fewer pictures
  // want more.
  double epsilon = 0.3;

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Whitening by views: the metric in which the images of one picture differ equally in all
// directions, so that a difference counts by how much it exceeds what views of one picture show.
// With φᵢₖ the images of picture i and φ̄ᵢ their mean,
//   S = mean of (φᵢₖ − φ̄ᵢ)(φᵢₖ − φ̄ᵢ)ᵀ,  x = A(φ − m),  AᵀA = (S + ε tr(S)/D I)⁻¹.
// A is the inverse of a Cholesky factor, which costs a fraction of the symmetric root. The two
// differ by a rotation, which no method that begins with principal components can see.
struct ViewWhitening {
  LinearMap forward;  // x = Aφ − Am
  LinearMap back;     // φ = A⁻¹x + m
};

// From S and m. Throws kInvalidArgument when S cannot be told from rounding.
ViewWhitening WhitenBy(const WhiteningOptions& options, MatrixD within, const VectorD& mean);

// Whether S is more than rounding, against the variance of all.
bool VariesWithin(const MatrixD& within, double total);

// From the sums of SumViews, which add up over shards of pictures. Throws kInvalidArgument for
// fewer than two pictures or two images of each, and when the images of no picture differ.
ViewWhitening FindWhitening(const WhiteningOptions& options, const Sums& sums, Index per_picture);

// The same from vectors, in one pass. Throws kInvalidArgument also for numbers that are not finite.
ViewWhitening LearnWhitening(const WhiteningOptions& options, const ViewVectors& images,
                             const RunContext& context);

// A model of vectors from one that was learned from whitened vectors. The whitening becomes part of
// an encoder that begins with linear maps, so that a code costs what it cost; before others it
// stands as a map of its own.
HashModel FoldWhitening(const ViewWhitening& whitening, HashModel model);

}  // namespace bitpool
