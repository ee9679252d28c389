#include "bitpool/linalg/kmeans.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/linalg/reductions.h"

namespace bitpool {
namespace {

constexpr Index kChunkColumns = 2048;            // read and summed at once
constexpr Index kScores = Index{1} << 18;        // distances computed at once, if that leaves
constexpr Index kMinPart = 64, kMaxPart = 1024;  // this many columns
constexpr Index kSeedingSamplesPerCluster = 32;  // k-means++ costs this × clusters² distances
constexpr size_t kSeedingGrain = 4096;           // columns
constexpr uint64_t kSampleStream = 1, kSeedingStream = 2;
constexpr double kUnitRoundoff = std::numeric_limits<float>::epsilon() / 2.0;
constexpr double kLargestSquare = std::numeric_limits<float>::max() / 4.0;

void ThrowTooLarge(const MatrixFRef& part, Index column, Index first) {
  RequireFinite(part.col(column), first + column);
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("column {}: its values are too large to be squared in single precision; "
                          "divide the data by its largest value first",
                          first + column));
}

// k-means++: each next centroid is a sample drawn with a probability proportional to its squared
// distance to the centroids so far. Samples that are there already have none, so a sample is drawn
// twice only when no different one is left.
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

MatrixF ChooseSeeds(const KMeansOptions& options, const ColumnSource& source,
                    const RunContext& context) {
  const Index wanted = options.seeding_samples > 0 ? options.seeding_samples
                                                   : kSeedingSamplesPerCluster * options.clusters;
  const Index count = std::min(source.size(), std::max(wanted, options.clusters));
  const std::vector<uint64_t> sample =
      context.MakeRandom(kSampleStream)
          .Sample(static_cast<uint64_t>(source.size()), static_cast<uint64_t>(count));
  std::vector<Index> columns(sample.begin(), sample.end());
  std::sort(columns.begin(), columns.end());  // files are read forward
  MatrixF samples = GatherColumns(source, columns);
  for (Index i = 0; i < samples.cols(); ++i) {
    RequireFinite(samples.col(i), columns[static_cast<size_t>(i)]);
  }
  return Seeding(std::move(samples), context).Choose(options.clusters);
}

// What one chunk of samples adds to an iteration.
struct Sums {
  MatrixD totals;             // D×k, sum of the samples of each cluster
  std::vector<Index> counts;  // samples of each cluster
  double squared_distance = 0;
  Index moved = 0;

  void Clear(Index dimension, Index clusters) {
    totals.setZero(dimension, clusters);
    counts.assign(static_cast<size_t>(clusters), 0);
    squared_distance = 0;
    moved = 0;
  }

  void Add(Index cluster, const float* sample) {
    double* total = totals.col(cluster).data();
    for (Index i = 0; i < totals.rows(); ++i) total[i] += static_cast<double>(sample[i]);
    ++counts[static_cast<size_t>(cluster)];
  }

  void Remove(Index cluster, const VectorF& sample) {
    totals.col(cluster) -= sample.cast<double>();
    --counts[static_cast<size_t>(cluster)];
  }

  void Merge(const Sums& other) {
    totals += other.totals;
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    squared_distance += other.squared_distance;
    moved += other.moved;
  }
};

class Lloyd {
 public:
  Lloyd(const KMeansOptions& options, const ColumnSource& source, const RunContext& context)
      : options_(options),
        source_(source),
        context_(context),
        clusters_(static_cast<size_t>(source.size()), -1),
        distances_(static_cast<size_t>(source.size())) {}

  KMeans Run(MatrixF centroids, KMeansSummary& summary) {
    const auto steps = static_cast<uint64_t>(source_.size()) * options_.iterations;
    Progress progress = context_.StartProgress("k-means", "columns", steps);
    double previous = std::numeric_limits<double>::infinity();
    for (int i = 0; i < options_.iterations && !summary.converged; ++i) {
      const Stopwatch watch;
      const KMeans model(std::move(centroids));
      Sums sums = AssignAll(model, progress);
      const std::vector<Index> empty = EmptyClusters(sums);
      const bool reseeded = Reseed(empty, sums);
      centroids = Means(model.centroids(), sums);
      KMeansIteration& iteration = summary.iterations.emplace_back();
      const auto samples = static_cast<double>(source_.size());
      iteration.objective = sums.squared_distance / samples;
      iteration.moved = static_cast<double>(sums.moved) / samples;
      iteration.empty = static_cast<Index>(empty.size());
      iteration.seconds = watch.seconds();
      const bool stalled = previous - iteration.objective <= options_.tolerance * previous;
      summary.converged = !reseeded && (sums.moved == 0 || (i > 0 && stalled));
      previous = iteration.objective;
    }
    return KMeans(std::move(centroids));
  }

 private:
  Sums AssignAll(const KMeans& model, Progress& progress) {
    const Index dimension = source_.dimension();
    Sums all;
    all.Clear(dimension, options_.clusters);
    context_.pool().OrderedReduce(
        static_cast<size_t>(source_.size()), static_cast<size_t>(kChunkColumns), Sums(),
        [&](Sums& part, size_t begin, size_t end) {
          context_.ThrowIfStopped();
          part.Clear(dimension, options_.clusters);
          AssignChunk(model, static_cast<Index>(begin), static_cast<Index>(end), part);
          progress.Advance(end - begin);
        },
        [&](const Sums& part) { all.Merge(part); });
    return all;
  }

  void AssignChunk(const KMeans& model, Index begin, Index end, Sums& sums) {
    MatrixF buffer;
    const ColumnsView block = source_.Read(begin, end - begin, buffer);
    const Assignment assignment = model.Assign(block, begin);
    for (Index i = 0; i < block.cols(); ++i) {
      const int32_t cluster = assignment.clusters[static_cast<size_t>(i)];
      const auto sample = static_cast<size_t>(begin + i);
      sums.moved += clusters_[sample] != cluster ? 1 : 0;
      clusters_[sample] = cluster;
      distances_[sample] = assignment.squared_distances[static_cast<size_t>(i)];
      sums.squared_distance += static_cast<double>(distances_[sample]);
      sums.Add(cluster, block.col(i).data());
    }
  }

  static std::vector<Index> EmptyClusters(const Sums& sums) {
    std::vector<Index> empty;
    for (size_t cluster = 0; cluster < sums.counts.size(); ++cluster) {
      if (sums.counts[cluster] == 0) empty.push_back(static_cast<Index>(cluster));
    }
    return empty;
  }

  // Moves the farthest samples into the empty clusters. False when there was nothing to move.
  bool Reseed(const std::vector<Index>& empty, Sums& sums) const {
    if (empty.empty()) return false;
    const auto nearer = [&](Index a, Index b) {
      return std::pair(distances_[static_cast<size_t>(a)], b) <
             std::pair(distances_[static_cast<size_t>(b)], a);
    };
    std::vector<Index> heap = AwayFromCentroid();  // the farthest on top, the first of several
    std::make_heap(heap.begin(), heap.end(), nearer);
    std::vector<VectorF> taken;
    while (!heap.empty() && taken.size() < empty.size()) {
      std::pop_heap(heap.begin(), heap.end(), nearer);
      const Index sample = heap.back();
      heap.pop_back();
      const Index donor = clusters_[static_cast<size_t>(sample)];
      if (sums.counts[static_cast<size_t>(donor)] <= 1) continue;  // would be empty in turn
      const VectorF column = GatherColumns(source_, {sample});
      // A second centroid at the same place would be empty again.
      if (std::find(taken.begin(), taken.end(), column) != taken.end()) continue;
      sums.Remove(donor, column);
      sums.Add(empty[taken.size()], column.data());
      taken.push_back(column);
    }
    return !taken.empty();
  }

  // The samples that lie apart from their centroid; the others would make no new cluster.
  std::vector<Index> AwayFromCentroid() const {
    std::vector<Index> samples;
    for (Index i = 0; i < source_.size(); ++i) {
      if (distances_[static_cast<size_t>(i)] > 0) samples.push_back(i);
    }
    return samples;
  }

  // The means of the clusters; an empty one stays where it was.
  static MatrixF Means(const MatrixF& before, const Sums& sums) {
    MatrixF centroids = before;
    for (Index cluster = 0; cluster < before.cols(); ++cluster) {
      const Index count = sums.counts[static_cast<size_t>(cluster)];
      if (count == 0) continue;
      centroids.col(cluster) =
          (sums.totals.col(cluster) / static_cast<double>(count)).cast<float>();
    }
    return centroids;
  }

  const KMeansOptions& options_;
  const ColumnSource& source_;
  const RunContext& context_;
  std::vector<int32_t> clusters_;  // of each sample; -1 before the first iteration
  std::vector<float> distances_;   // squared, of each sample to its centroid
};

void CheckSamples(const KMeansOptions& options, const ColumnSource& source) {
  if (source.size() >= options.clusters && source.dimension() > 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("clusters: {} cannot be found in {} samples of {} dimensions; ask for "
                          "fewer clusters or give more samples",
                          options.clusters, source.size(), source.dimension()));
}

}  // namespace

void KMeansOptions::Validate() const {
  const auto require = [](bool good, const char* field, const char* expected, auto got) {
    if (good) return;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: expected {}, got {}", field, expected, got));
  };
  require(clusters >= 1 && clusters <= std::numeric_limits<int32_t>::max(), "clusters", "1 or more",
          clusters);
  require(iterations >= 1, "iterations", "1 or more", iterations);
  require(tolerance >= 0 && tolerance < 1, "tolerance", "a number in [0, 1)", tolerance);
  require(seeding_samples >= 0, "seeding_samples", "0 (automatic) or more", seeding_samples);
}

std::string KMeansSummary::BriefReport() const {
  const double first = iterations.empty() ? 0 : iterations.front().objective;
  const double last = iterations.empty() ? 0 : iterations.back().objective;
  return fmt::format(
      "k-means: {} clusters of {} samples, {} iterations, mean squared distance {:.6g} -> {:.6g}, "
      "{}, {:.2f} s",
      clusters, samples, iterations.size(), first, last, converged ? "converged" : "not converged",
      seconds);
}

KMeans::KMeans(MatrixF centroids) : centroids_(std::move(centroids)) {
  if (centroids_.cols() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "k-means needs at least one centroid");
  }
  RequireFinite(centroids_, 0);
  const VectorD sum = centroids_.cast<double>().rowwise().sum();
  centre_ = (sum / static_cast<double>(centroids_.cols())).cast<float>();
  minus_twice_ = centroids_.colwise() - centre_;
  squared_norms_ = minus_twice_.colwise().squaredNorm();
  minus_twice_ *= -2.0F;
  largest_norm_ = std::sqrt(squared_norms_.maxCoeff());
}

Assignment KMeans::Assign(const MatrixFRef& block, Index first) const {
  if (block.rows() != centroids_.rows()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the centroids have {} dimensions, the data has {}", centroids_.rows(),
                            block.rows()));
  }
  Assignment result;
  result.clusters.resize(static_cast<size_t>(block.cols()));
  result.squared_distances.resize(static_cast<size_t>(block.cols()));
  const Index part = std::clamp(kScores / centroids_.cols(), kMinPart, kMaxPart);
  for (Index offset = 0; offset < block.cols(); offset += part) {
    const Index count = std::min(part, block.cols() - offset);
    AssignPart(block.middleCols(offset, count), offset, first + offset, result);
  }
  return result;
}

void KMeans::AssignPart(const MatrixFRef& part, Index offset, Index first,
                        Assignment& result) const {
  const MatrixF shifted = part.colwise() - centre_;
  // ‖c‖² − 2cᵀx, which differs from ‖x − c‖² by ‖x‖², the same for all c.
  MatrixF scores = minus_twice_.transpose() * shifted;
  scores.colwise() += squared_norms_;
  for (Index column = 0; column < part.cols(); ++column) {
    const double reach = static_cast<double>(shifted.col(column).norm() + largest_norm_);
    if (!(reach * reach <= kLargestSquare)) ThrowTooLarge(part, column, first);
    // A score is wrong by at most (D + 8) units of rounding of (‖x‖ + ‖c‖)², so the nearest
    // centroid is among those within twice that of the best score.
    const double slack = 2 * static_cast<double>(part.rows() + 8) * kUnitRoundoff * reach * reach;
    const double bound = static_cast<double>(scores.col(column).minCoeff()) + slack;
    const auto at = static_cast<size_t>(offset + column);
    NearestUnder(static_cast<float>(bound), scores.col(column).data(), part.col(column).data(),
                 result.clusters[at], result.squared_distances[at]);
  }
}

void KMeans::NearestUnder(float bound, const float* scores, const float* sample, int32_t& cluster,
                          float& squared_distance) const {
  double best = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < centroids_.cols(); ++i) {
    if (scores[i] > bound) continue;
    const double distance = SquaredDistance(sample, centroids_.col(i).data(), centroids_.rows());
    if (distance >= best) continue;
    best = distance;
    cluster = static_cast<int32_t>(i);
  }
  squared_distance = static_cast<float>(best);
}

Assignment Assign(const MatrixFRef& centroids, const MatrixFRef& block) {
  return KMeans(MatrixF(centroids)).Assign(block);
}

Trained<KMeans> TrainKMeans(const KMeansOptions& options, const ColumnSource& source,
                            const RunContext& context) {
  options.Validate();
  CheckSamples(options, source);
  const Stopwatch watch;
  Trained<KMeans> trained;
  trained.summary.samples = source.size();
  trained.summary.clusters = options.clusters;
  MatrixF seeds = ChooseSeeds(options, source, context);
  trained.model = Lloyd(options, source, context).Run(std::move(seeds), trained.summary);
  trained.summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
