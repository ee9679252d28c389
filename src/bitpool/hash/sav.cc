#include "bitpool/hash/sav.h"

#include <utility>

#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/itq.h"
#include "bitpool/linalg/moments.h"

namespace bitpool {

void SavOptions::Validate() const {
  RequireBits(bits);
  contrast.Validate();
}

Trained<HashModel> TrainSav(const SavOptions& options, const ViewVectors& views,
                            const RunContext& context, ContrastRun run) {
  options.Validate();
  const Stopwatch watch;
  TrainingSummary unused;
  const LinearMap start = FindItqEncoder({.bits = options.bits}, views.vectors,
                                         ComputeMoments(views.vectors, context), context, unused);
  context.ThrowIfStopped();
  Trained<HashModel> trained =
      TrainContrast(options.contrast, views, start, context, std::move(run));
  trained.summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
