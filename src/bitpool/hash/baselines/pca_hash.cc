#include "bitpool/hash/baselines/pca_hash.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/pca.h"

namespace bitpool {

void PcaHashOptions::Validate() const { RequireBits(bits); }

Trained<HashModel> TrainPcaHash(const PcaHashOptions& options, const ColumnSource& source,
                                const RunContext& context) {
  options.Validate();
  if (options.bits > source.dimension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("bits: PCA hashing of {0} dimensions has at most {0} bits, got {1}",
                            source.dimension(), options.bits));
  }
  const Stopwatch watch;
  const Moments moments = ComputeMoments(source, context);
  RequireTrainable(moments);
  LinearMap map;
  map.weights = ComputePca(moments, options.bits).basis.transpose();
  map.bias = -(map.weights.cast<double>() * moments.mean()).cast<float>();

  Trained<HashModel> trained;
  trained.model.method = "pcah";
  trained.model.encoder = std::make_shared<LinearEncoder>(std::move(map));
  trained.model.decoder = FitDecoder(*trained.model.encoder, source, context);
  trained.summary.samples = moments.count();
  trained.summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
