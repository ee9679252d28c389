#include "bitpool/linalg/kmeans_seeding.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "bitpool/linalg/reductions.h"

namespace bitpool {
namespace {

constexpr size_t kSeedingGrain = 4096;  // columns
constexpr uint64_t kSeedingStream = 2;

class Seeding {
 public:
  Seeding(MatrixF samples, const RunContext& context)
      : samples_(std::move(samples)),
        context_(context),
        random_(context.MakeRandom(kSeedingStream)),
        nearest_(static_cast<size_t>(samples_.cols()), std::numeric_limits<double>::max()) {}

  MatrixF Choose(Index clusters) {
    MatrixF centroids(samples_.rows(), clusters);
    auto chosen = static_cast<Index>(random_.Below(static_cast<uint64_t>(samples_.cols())));
    for (Index cluster = 0; cluster < clusters; ++cluster) {
      centroids.col(cluster) = samples_.col(chosen);
      if (cluster + 1 == clusters) break;
      UpdateNearest(chosen);
      chosen = Draw(chosen);
    }
    return centroids;
  }

 private:
  void UpdateNearest(Index chosen) {
    const float* centroid = samples_.col(chosen).data();
    context_.ParallelFor(nearest_.size(), kSeedingGrain, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const float* sample = samples_.col(static_cast<Index>(i)).data();
        nearest_[i] = std::min(nearest_[i], SquaredDistance(sample, centroid, samples_.rows()));
      }
    });
  }

  Index Draw(Index previous) {
    double total = 0;
    for (const double distance : nearest_) total += distance;
    double left = random_.Uniform() * total;
    Index last = previous;
    for (size_t i = 0; i < nearest_.size(); ++i) {
      if (nearest_[i] <= 0) continue;
      last = static_cast<Index>(i);
      left -= nearest_[i];
      if (left < 0) break;
    }
    return last;
  }

  MatrixF samples_;
  const RunContext& context_;
  Random random_;
  std::vector<double> nearest_;  // squared distance of each sample to the nearest centroid so far
};

}  // namespace

MatrixF ChooseSeeds(MatrixF samples, Index clusters, const RunContext& context) {
  return Seeding(std::move(samples), context).Choose(clusters);
}

}  // namespace bitpool
