#include "bitpool/pictures/feature_reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"

namespace bitpool {
namespace {

// Random-number streams.
constexpr uint64_t kPictureStream = 111, kFeatureStream = 112;

std::vector<uint64_t> Draw(Random random, size_t count, Index most) {
  std::vector<uint64_t> drawn =
      random.Sample(count, std::min<uint64_t>(count, static_cast<uint64_t>(most)));
  std::ranges::sort(drawn);
  return drawn;
}

MatrixF Joined(const std::vector<MatrixF>& parts) {
  Index columns = 0, rows = 0;
  for (const MatrixF& part : parts) {
    columns += part.cols();
    rows = std::max(rows, part.rows());
  }
  MatrixF joined(rows, columns);
  Index at = 0;
  for (const MatrixF& part : parts) {
    if (part.cols() == 0) continue;
    joined.middleCols(at, part.cols()) = part;
    at += part.cols();
  }
  return joined;
}

}  // namespace

void ReductionTraining::Validate() const {
  RequireAtLeast(1, dimension, "dimension");
  RequireAtLeast(1, pictures, "pictures");
  RequireAtLeast(1, features, "features");
}

LocalPca LearnReduction(const ReductionTraining& training, size_t count,
                        const std::function<MatrixF(size_t)>& describe, const RunContext& context) {
  training.Validate();
  const std::vector<uint64_t> pictures =
      Draw(context.MakeRandom(kPictureStream), count, training.pictures);
  std::vector<MatrixF> parts(pictures.size());
  const Index share = training.features / std::max<Index>(1, static_cast<Index>(parts.size())) + 1;
  const Random random = context.MakeRandom(kFeatureStream);
  {
    Progress progress = context.StartProgress("learning the local PCA", "pictures", parts.size());
    context.ParallelFor(parts.size(), 1, [&](size_t i, size_t /*end*/) {
      context.ThrowIfStopped();
      const MatrixF features = describe(static_cast<size_t>(pictures[i]));
      const auto size = static_cast<size_t>(features.cols());
      parts[i] = features(Eigen::all, Draw(random.Fork(pictures[i]), size, share));
      progress.Advance();
    });
  }
  const MatrixF sample = Joined(parts);
  if (sample.cols() < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} local features of {} pictures are too few to learn how to reduce "
                            "them",
                            sample.cols(), parts.size()));
  }
  const Index dimension = std::min({training.dimension, sample.rows(), sample.cols() / 2});
  return TrainLocalPca(sample, dimension, context);
}

}  // namespace bitpool
