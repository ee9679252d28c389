#pragma once

#include "bitpool/hash/view_whitening.h"
#include "bitpool/linalg/moments.h"

namespace bitpool {

// Whitening by classes: that by views (ViewWhitening) with the scatter about the means of classes
// for S, so that a difference counts by how much it exceeds what is seen within a class.
//
// S is what is left of the scatter of the vectors when they are predicted from the labels, which is
// the same where every sample has one class, and has a meaning where some have several or none.
// Vectors that their labels predict exactly leave nothing to whiten by: they are only centred and
// all scaled alike. `from_labels` has the labels (LabelTargets) as inputs and the vectors as
// targets.
ViewWhitening WhitenByClasses(const WhiteningOptions& options, const Moments& vectors,
                              const CrossMoments& from_labels);

}  // namespace bitpool
