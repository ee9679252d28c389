#pragma once

#include <cstddef>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/itq.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/trained.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

struct CcaItqOptions {
  int bits = 32;                 // L; may exceed the dimension of the data and the classes
  double regularisation = 1e-3;  // ρ, as a share of the mean variance of the vectors' dimensions
                                 // and of the classes' indicators
  int iterations = ItqOptions().iterations;  // of ITQ, at most
  size_t memory = ItqOptions().memory;       // for projected samples

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Supervised ITQ (Gong and Lazebnik, CVPR 2011; with Gordo and Perronnin, PAMI 2013): instead of
// the principal components, ITQ rotates the canonical correlation directions between the vectors x
// and their labels y (LabelTargets), which solve
//   Cxy (Cyy + ρy I)⁻¹ Cyx w = r² (Cxx + ρx I) w,   wᵀ(Cxx + ρx I)w = 1,
// each multiplied by its correlation r.
//
// The authors' program adds 1e-4 to the variances, whatever their scale; here ρx and ρy are shares
// of the mean variances, so that the scale of the data makes no difference, and never less than
// what single precision can tell. 1e-3 is about what 1e-4 amounts to for the indicators of ten
// classes.
//
// There are no more correlations than the vectors have dimensions, or than there are classes. The
// authors take the directions of r ≈ 0 where more bits are wanted; multiplied by r they give
// projections of about zero, so that their rotation turns the others into all bits. Here the
// directions with r below 1e-4 of the largest, which are only rounding, are left out and the
// rotation is a tall matrix with orthonormal columns, as if they were zero.
//
// An iteration's objective is that of TrainItq. An interruption after the first iteration leaves
// the model found by then. Reads the source once for the moments and once for ITQ. Throws
// kInvalidArgument for data that RequireTrainable or LabelTargets refuses, and for labels that are
// not correlated with the vectors at all. method "cca-itq".
Trained<HashModel> TrainCcaItq(const CcaItqOptions& options, const ColumnSource& vectors,
                               const Labels& labels, const RunContext& context);

}  // namespace bitpool
