#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/pool/pooling_system.h"
#include "bitpool/samples/feature_set.h"

namespace bitpool {

// An image of a batch that could not be processed, and why.
struct FailedImage {
  Index image = 0;
  std::string reason;
};

// The vectors of all images of a feature set.
struct PooledImages {
  MatrixF vectors;                  // a column per image; zero for those that failed
  std::vector<FailedImage> failed;  // in order
};

// One vector for the descriptors of an image. Called from many threads.
using Pooling = std::function<VectorF(const MatrixFRef& descriptors)>;

// The vector of every image, in parallel. With `normalise` every descriptor is scaled to length one
// first. Images without descriptors, or with numbers that are not finite, are reported, and the
// others are finished. A damaged file is an error.
PooledImages PoolImages(const Pooling& pooling, bool normalise, const FeatureSet& features,
                        const RunContext& context);

// The same by a pooling system. Throws kInvalidArgument for another dimension.
PooledImages PoolImages(const PoolingSystem& system, bool normalise, const FeatureSet& features,
                        const RunContext& context);

// The same by the name of a pooling: "gmp" (generalised max pooling, with μ), "sum", "mean" or
// "max". Throws kInvalidArgument for another name.
PooledImages PoolImagesBy(std::string_view name, double mu, bool normalise,
                          const FeatureSet& features, const RunContext& context);

// The pooling that goes with a model of feature sets: the coupled system of eq:sol_pool where its
// recipe has a γ, generalised max pooling otherwise. Throws kInvalidArgument for a model that takes
// vectors.
PoolingSystem PoolingOf(const HashModel& model);

// What a model makes of images. Codes and numbers are from one product: the signs of the numbers
// are the codes, but for images that failed, which have a code of zeros and numbers that are zero
// and say nothing about any bit.
struct EncodedImages {
  BinaryCodes codes{1};             // of every image
  MatrixF projections;              // bits × images
  std::vector<FailedImage> failed;  // in order
};

// Codes and numbers of new images: φ by the model's pooling, then its encoder. Throws
// kInvalidArgument for a model that takes vectors, or local features of another dimension.
EncodedImages EncodeImages(const HashModel& model, const FeatureSet& features,
                           const RunContext& context);

// Gets consecutive images, the first of which has the number `first`. The numbers of failed images
// are those of the whole set.
using EncodedImagesSink = std::function<void(Index first, const EncodedImages& encoded)>;

// The same for more images than fit into memory: the sink gets all of them, in order, a few
// thousand at a time.
void EncodeImages(const HashModel& model, const FeatureSet& features, const RunContext& context,
                  const EncodedImagesSink& sink);

}  // namespace bitpool
