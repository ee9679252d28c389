#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/training/method.h"

// The stage between pooling and hashing in which methods of vectors learn from views.
namespace bitpool {

// What a method does with the views of pictures. One that does not use them learns from the
// pictures alone.
struct ViewUse {
  bool whiten = false;                          // learn from vectors that are whitened by views
  double epsilon = WhiteningOptions().epsilon;  // ε of the whitening
  Index views = 0;                              // this many of every picture, the first; 0: all

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// With `always`, the table has no `whiten`: for methods that always whiten.
OptionTable<ViewUse> ViewTable(bool always);

// Trains after the stage: a method that whitens gets the whitened vectors of all images, and the
// whitening becomes part of its model; one that takes views as they are gets the vectors of all
// images; any other gets those of the pictures. Labels are those of the pictures. Throws
// kInvalidArgument when views are wanted and there are none.
Trained<HashModel> TrainBehindViews(const Method& method, const MethodSettings& settings,
                                    const VectorSamples& samples, const RunContext& context);

// The whitening that the settings ask for, learned from the images' vectors: what methods of local
// features get. Throws kInvalidArgument as LearnWhitening.
ViewWhitening WhiteningFor(const MethodSettings& settings, const ViewVectors& images,
                           const RunContext& context);

}  // namespace bitpool
