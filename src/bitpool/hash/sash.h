#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/alternation.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/image_record.h"
#include "bitpool/hash/kernel_codes.h"
#include "bitpool/linalg/trained.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

struct SashOptions {
  // Options of the loop. λ, β, γ, μ, and starting the codes from the labels, were chosen by
  // cross-validation on training images of CIFAR-10, in both of the paper's settings.
  SahOptions joint = {
      .rba = {.lambda = 1e-3, .beta = 1e-5}, .gamma = 1, .mu = 100, .codes_from_labels = true};
  // α, the ridge of the mapping from the vectors of generalised max pooling to the learned ones.
  // It is relative to the mean variance of a component of the former or, in the paper's own scale,
  // to their sums of squares.
  double alpha = 0.01;
  // Options of the hash functions on a kernel map; without anchors they are linear, as in the
  // paper.
  KernelCodeOptions kernel = {};

  // The paper's values: λ = 1e-4, β = 1e-3, α = 0.5, and γ = 1, μ = 100 out of the ranges that it
  // searches, in the paper's own scale.
  static SashOptions Paper(int bits);

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Simultaneous aggregating and supervised hashing (section VI, alg3), from the records of images
// and their labels: see Alternate. An image may have several classes or none.
//
// A new image has no label, so its vector is that of generalised max pooling, mapped to the learned
// ones by P (eq:mapping, eq:varphi) before it is encoded. Mapping and encoder are both linear and
// are kept as one: h = W₁(Pφ₀ + p) + c₁. By default P is fitted with a bias p, to vectors relative
// to their means, so that α does not draw codes towards the origin; the paper's preset has none.
//
// With options.kernel.anchors, which the paper does not have, the loop is the same, and the hash
// functions that are kept are learned after it on a kernel map of what a new image will have:
// h = W₁k(Pφ₀ + p) + c₁, with anchors among the mapped training vectors (LearnKernelCodes). The
// learned Φ themselves will not do: they know the labels, and hash functions that rely on that lose
// 4 to 7 points of mAP on new images.
//
// The model's decoder is fitted afterwards to the vectors of generalised max pooling, as for the
// methods that have none: the decoder that the loop learns gives labels, not vectors.
//
// options.joint.normalise must be what the records were reduced with. An interruption after the
// first iteration leaves the model found by then (with a kernel, that of its first codes). Throws
// kInvalidArgument when the numbers of labels and records differ, when fewer than two classes
// occur, or when the state to resume is of other images or of another number of bits. method
// "sash".
Trained<HashModel> TrainSash(const SashOptions& options, const RecordStore& records,
                             const Labels& labels, const RunContext& context, JointRun run = {},
                             const ViewWhitening* whitening = nullptr);

// The same for images in shards, each an ImageShard that was given the labels of its images, as
// columns with the name kSashLabels (see LabelTargets). Throws kUnsupported for a kernel, whose
// anchors come from all shards.
inline constexpr const char* kSashLabels = "labels";
Trained<HashModel> TrainSash(const SashOptions& options, Shards& shards, const RunContext& context);

// The same from the images themselves, whose records are kept in memory. Images without descriptors
// are left out, with their labels, and named in the summary.
Trained<HashModel> TrainSash(const SashOptions& options, const FeatureSet& features,
                             const Labels& labels, const RunContext& context);

// P and p of eq:mapping: the ridge regression of the learned vectors on those of generalised max
// pooling.
LinearMap FindMapping(const SashOptions& options, const MatrixF& pooled, const MatrixF& learned,
                      const RunContext& context);

// The labels of the images that ReduceImages makes a record of.
Labels LabelsOfRecords(const FeatureSet& features, const Labels& labels);

}  // namespace bitpool
