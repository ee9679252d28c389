#include "bitpool/hash/baselines/lsh.h"

#include <memory>
#include <utility>

#include "bitpool/base/stopwatch.h"
#include "bitpool/linalg/moments.h"

namespace bitpool {

void LshOptions::Validate() const { RequireBits(bits); }

Trained<HashModel> TrainLsh(const LshOptions& options, const ColumnSource& source,
                            const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  const Moments moments = ComputeMoments(source, context);
  RequireTrainable(moments);
  LinearMap map;
  map.weights = context.MakeRandom().NormalMatrix(options.bits, source.dimension());
  map.bias = -(map.weights.cast<double>() * moments.mean()).cast<float>();

  Trained<HashModel> trained;
  trained.model.method = "lsh";
  trained.model.encoder = std::make_shared<LinearEncoder>(std::move(map));
  trained.model.decoder = FitDecoder(*trained.model.encoder, source, context);
  trained.summary.samples = moments.count();
  trained.summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
