#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/alternation.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/image_record.h"
#include "bitpool/linalg/trained.h"
#include "bitpool/samples/feature_set.h"

namespace bitpool {

// Simultaneous aggregating and hashing (section IV, alg2), from the records of images: see
// Alternate.
//
// options.normalise must be what the records were reduced with: the model does the same with new
// images, whose vectors come from eq:sol_pool with the learned maps. An interruption after the
// first iteration leaves the model found by then. Throws kInvalidArgument when the state to resume
// is of other images or of another number of bits. With a whitening by views, reconstructions are
// measured in its metric. method "sah".
Trained<HashModel> TrainSah(const SahOptions& options, const RecordStore& records,
                            const RunContext& context, JointRun run = {},
                            const ViewWhitening* whitening = nullptr);

// The same for images in shards, each an ImageShard.
Trained<HashModel> TrainSah(const SahOptions& options, Shards& shards, const RunContext& context);

// The same from the images themselves, whose records are kept in memory. Images without descriptors
// are left out and named in the summary.
Trained<HashModel> TrainSah(const SahOptions& options, const FeatureSet& features,
                            const RunContext& context);

}  // namespace bitpool
