#pragma once

#include <string>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/relaxed_autoencoder.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/shards.h"

// The codes that relaxed autoencoders begin with, noted by the shards.
namespace bitpool {

// Those that ITQ makes of columns, whose moments are known.
void NoteItqCodes(Shards& shards, const std::string& columns, const std::string& codes,
                  const Moments& moments, int bits, const RunContext& context);

// Those that ITQ makes of the labels (`names.targets`) as a ridge regression predicts them from the
// inputs, whose moments are known: bits that can be predicted from the inputs and that tell the
// classes apart. The ridge is per sample, against the variance of the inputs.
void NoteCodesOfLabels(Shards& shards, const RelaxedAutoencoder::Names& names,
                       const Moments& moments, double ridge, int bits, const RunContext& context);

}  // namespace bitpool
