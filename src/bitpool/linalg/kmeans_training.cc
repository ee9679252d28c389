#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/linalg/kmeans.h"
#include "bitpool/linalg/kmeans_seeding.h"

namespace bitpool {
namespace {

constexpr size_t kKmeansColumns = 2048;          // read and summed at once
constexpr Index kSeedingSamplesPerCluster = 32;  // k-means++ costs this × clusters² distances
constexpr uint64_t kSampleStream = 1;
static_assert(kShardAlignment % kKmeansColumns == 0);

// What a shard notes of each of its samples.
constexpr const char* kClusters = "kmeans.clusters";    // its cluster, none before the first pass
constexpr const char* kDistances = "kmeans.distances";  // squared, to the centroid; one row

const ColumnSource& InputsOf(const Shard& shard) {
  if (const ColumnSource* inputs = shard.given(kInputs)) return *inputs;
  throw Error(ErrorCode::kInvalidArgument, "a shard without vectors");
}

// Samples by their numbers in the whole, which ascend.
struct SampleColumns : Part {
  void Visit(FieldVisitor& fields) override { fields.Visit("columns", columns); }
  MatrixF columns;
};

class GatherPass : public Pass {
 public:
  GatherPass() = default;
  explicit GatherPass(std::vector<int64_t> samples) : samples_(std::move(samples)) {}

  std::string_view name() const override { return "kmeans-gather"; }
  void Visit(FieldVisitor& fields) override { fields.Visit("samples", samples_); }
  std::unique_ptr<Part> NewPart() const override { return std::make_unique<SampleColumns>(); }

  std::unique_ptr<Part> Compute(Shard& shard, const RunContext& /*context*/) const override {
    const ShardPlace& place = shard.place();
    std::vector<Index> mine;
    for (const Index sample : samples_) {
      if (sample >= place.first && sample < place.first + place.count) {
        mine.push_back(sample - place.first);
      }
    }
    auto part = std::make_unique<SampleColumns>();
    part->columns = GatherColumns(InputsOf(shard), mine);
    for (size_t i = 0; i < mine.size(); ++i) {
      RequireFinite(part->columns.col(static_cast<Index>(i)), place.first + mine[i]);
    }
    return part;
  }

 private:
  std::vector<int64_t> samples_;
};

// What the samples add to an iteration.
Sums BlankSums(Index dimension, Index clusters) {
  return {{"totals", dimension, clusters},  // sum of the samples of each cluster
          {"counts", 1, clusters},          // samples of each cluster
          {"squared_distance"},
          {"moved"}};
}

void AddSample(Sums& sums, Index cluster, const float* sample) {
  MatrixD& totals = sums["totals"];
  double* total = totals.col(cluster).data();
  for (Index i = 0; i < totals.rows(); ++i) total[i] += static_cast<double>(sample[i]);
  ++sums["counts"](0, cluster);
}

void RemoveSample(Sums& sums, Index cluster, const VectorF& sample) {
  sums["totals"].col(cluster) -= sample.cast<double>();
  --sums["counts"](0, cluster);
}

// Assigns every sample to its nearest centroid.
class AssignPass : public SumPass<Sums> {
 public:
  AssignPass() = default;
  explicit AssignPass(MatrixF centroids) : centroids_(std::move(centroids)) {}

  std::string_view name() const override { return "kmeans-assign"; }
  void Visit(FieldVisitor& fields) override { fields.Visit("centroids", centroids_); }
  const MatrixF& centroids() const { return centroids_; }

 private:
  SumTerms<Sums> ComputeTerms(Shard& shard, const RunContext& context) const override {
    const KMeans model(centroids_);
    const ColumnSource& inputs = InputsOf(shard);
    const ShardPlace& place = shard.place();
    const auto count = static_cast<size_t>(place.count);
    std::vector<int32_t>& clusters = shard.Numbers(kClusters);
    MatrixF& distances = shard.Matrix(kDistances);
    clusters.resize(count, -1);
    distances.resize(1, place.count);
    const Sums blank = BlankSums(centroids_.rows(), centroids_.cols());
    TermBuilder<Sums> builder(place, blank);
    Progress progress = context.StartProgress("k-means", "columns", count);
    struct Chunk {
      Sums sums;
      Index first = 0;
    };
    context.pool().OrderedReduce(
        count, kKmeansColumns, Chunk{.sums = blank},
        [&](Chunk& chunk, size_t begin, size_t end) {
          context.ThrowIfStopped();
          chunk.sums.SetZero();
          chunk.first = place.first + static_cast<Index>(begin);
          MatrixF buffer;
          const ColumnsView block =
              inputs.Read(static_cast<Index>(begin), static_cast<Index>(end - begin), buffer);
          Update(model.Assign(block, chunk.first), block, clusters.data() + begin,
                 distances.data() + begin, chunk.sums);
          progress.Advance(end - begin);
        },
        [&](const Chunk& chunk) { builder.At(chunk.first).Merge(chunk.sums); });
    return builder.Take();
  }

  static void Update(const Assignment& assignment, const ColumnsView& block, int32_t* clusters,
                     float* distances, Sums& sums) {
    Index moved = 0;
    double squared_distance = 0;
    for (Index i = 0; i < block.cols(); ++i) {
      const int32_t cluster = assignment.clusters[static_cast<size_t>(i)];
      moved += clusters[i] != cluster ? 1 : 0;
      clusters[i] = cluster;
      distances[i] = assignment.squared_distances[static_cast<size_t>(i)];
      squared_distance += static_cast<double>(distances[i]);
      AddSample(sums, cluster, block.col(i).data());
    }
    sums.number("moved") = static_cast<double>(moved);
    sums.number("squared_distance") = squared_distance;
  }

  MatrixF centroids_;
};

// Samples far from their centroid, the farthest first, and of several at the same distance the
// first of the whole.
struct FarSamples : Part {
  void Visit(FieldVisitor& fields) override {
    fields.Visit("samples", samples);
    fields.Visit("clusters", clusters);
    fields.Visit("distances", distances);
    fields.Visit("columns", columns);
    const auto count = static_cast<Index>(samples.size());
    if (clusters.size() == samples.size() && distances.size() == count && columns.cols() == count) {
      return;
    }
    throw Error(ErrorCode::kInvalidArgument, "far samples: the sizes do not agree");
  }

  std::vector<int64_t> samples;   // their numbers in the whole
  std::vector<int32_t> clusters;  // those they belong to
  VectorF distances;
  MatrixF columns;
};

// The farthest samples of a shard that differ from each other.
class FarthestPass : public Pass {
 public:
  FarthestPass() = default;
  explicit FarthestPass(Index wanted) : wanted_(wanted) {}

  std::string_view name() const override { return "kmeans-farthest"; }
  void Visit(FieldVisitor& fields) override { fields.Visit("wanted", wanted_); }
  std::unique_ptr<Part> NewPart() const override { return std::make_unique<FarSamples>(); }

  std::unique_ptr<Part> Compute(Shard& shard, const RunContext& /*context*/) const override {
    const ColumnSource& inputs = InputsOf(shard);
    const MatrixF& distances = shard.Matrix(kDistances);
    const auto nearer = [&](Index a, Index b) {
      return std::pair(distances(0, a), b) < std::pair(distances(0, b), a);
    };
    std::vector<Index> heap;  // of samples that would make a new cluster; the farthest on top
    for (Index i = 0; i < distances.cols(); ++i) {
      if (distances(0, i) > 0) heap.push_back(i);
    }
    std::make_heap(heap.begin(), heap.end(), nearer);
    std::vector<Index> chosen;
    while (!heap.empty() && static_cast<Index>(chosen.size()) < wanted_) {
      std::pop_heap(heap.begin(), heap.end(), nearer);
      if (!Repeats(inputs, distances, chosen, heap.back())) chosen.push_back(heap.back());
      heap.pop_back();
    }
    auto part = std::make_unique<FarSamples>();
    part->columns = GatherColumns(inputs, chosen);
    part->distances.resize(static_cast<Index>(chosen.size()));
    for (size_t i = 0; i < chosen.size(); ++i) {
      part->samples.push_back(shard.place().first + chosen[i]);
      part->clusters.push_back(shard.Numbers(kClusters)[static_cast<size_t>(chosen[i])]);
      part->distances[static_cast<Index>(i)] = distances(0, chosen[i]);
    }
    return part;
  }

 private:
  // Equal samples have equal distances.
  static bool Repeats(const ColumnSource& inputs, const MatrixF& distances,
                      const std::vector<Index>& chosen, Index sample) {
    for (auto before = chosen.rbegin(); before != chosen.rend(); ++before) {
      if (distances(0, *before) != distances(0, sample)) return false;
      const MatrixF both = GatherColumns(inputs, {*before, sample});
      if (both.col(0) == both.col(1)) return true;
    }
    return false;
  }

  Index wanted_ = 0;
};

class Lloyd {
 public:
  Lloyd(const KMeansOptions& options, Shards& shards, const RunContext& context)
      : options_(options), shards_(shards), context_(context) {}

  MatrixF MakeSeeds() const {
    const Index wanted = options_.seeding_samples > 0
                             ? options_.seeding_samples
                             : kSeedingSamplesPerCluster * options_.clusters;
    const Index count = std::min(shards_.size(), std::max(wanted, options_.clusters));
    const std::vector<uint64_t> drawn =
        context_.MakeRandom(kSampleStream)
            .Sample(static_cast<uint64_t>(shards_.size()), static_cast<uint64_t>(count));
    std::vector<int64_t> samples(drawn.begin(), drawn.end());
    std::sort(samples.begin(), samples.end());  // files are read forward
    GatherPass pass(std::move(samples));
    MatrixF gathered;
    Index filled = 0;
    shards_.Run(pass, context_, [&](Part& part) {
      const MatrixF& columns = dynamic_cast<SampleColumns&>(part).columns;
      if (columns.cols() == 0) return;
      if (filled == 0) gathered.resize(columns.rows(), count);
      RequireRoom(gathered, filled, columns);
      gathered.middleCols(filled, columns.cols()) = columns;
      filled += columns.cols();
    });
    if (filled != count) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("samples to begin k-means with: expected {}, got {}", count, filled));
    }
    return ChooseSeeds(std::move(gathered), options_.clusters, context_);
  }

  KMeans Run(MatrixF centroids, KMeansSummary& summary) {
    double previous = std::numeric_limits<double>::infinity();
    for (int i = 0; i < options_.iterations && !summary.converged; ++i) {
      const Stopwatch watch;
      AssignPass pass(std::move(centroids));
      const MatrixF& before = pass.centroids();
      Sums sums = RunSums<Sums>(shards_, pass, BlankSums(before.rows(), before.cols()), context_);
      const std::vector<Index> empty = EmptyClusters(sums);
      const bool reseeded = Reseed(empty, sums);
      centroids = Means(before, sums);
      KMeansIteration& iteration = summary.iterations.emplace_back();
      const auto samples = static_cast<double>(shards_.size());
      iteration.objective = sums.number("squared_distance") / samples;
      iteration.moved = sums.number("moved") / samples;
      iteration.empty = static_cast<Index>(empty.size());
      iteration.seconds = watch.seconds();
      const bool stalled = previous - iteration.objective <= options_.tolerance * previous;
      summary.converged = !reseeded && (sums.number("moved") == 0 || (i > 0 && stalled));
      previous = iteration.objective;
    }
    return KMeans(std::move(centroids));
  }

 private:
  static void RequireRoom(const MatrixF& all, Index filled, const MatrixF& columns) {
    if (columns.rows() == all.rows() && columns.cols() <= all.cols() - filled) return;
    throw Error(ErrorCode::kInvalidArgument,
                "samples of a shard: more than were wanted, or of "
                "another dimension");
  }

  static std::vector<Index> EmptyClusters(const Sums& sums) {
    std::vector<Index> empty;
    const MatrixD& counts = sums["counts"];
    for (Index cluster = 0; cluster < counts.cols(); ++cluster) {
      if (counts(0, cluster) == 0) empty.push_back(cluster);
    }
    return empty;
  }

  // Moves the farthest samples into the empty clusters. False when there was nothing to move.
  bool Reseed(const std::vector<Index>& empty, Sums& sums) const {
    if (empty.empty()) return false;
    std::vector<VectorF> taken;
    for (const FarSample& far : Farthest(static_cast<Index>(empty.size()))) {
      if (taken.size() == empty.size()) break;
      if (sums["counts"](0, far.cluster) <= 1) continue;  // would be empty in turn
      // A second centroid at the same place would be empty again.
      if (std::find(taken.begin(), taken.end(), far.column) != taken.end()) continue;
      RemoveSample(sums, far.cluster, far.column);
      AddSample(sums, empty[taken.size()], far.column.data());
      taken.push_back(far.column);
    }
    return !taken.empty();
  }

  struct FarSample {
    float distance;
    Index sample;
    int32_t cluster;
    VectorF column;
  };

  // As many as are needed to fill this many clusters. Of a shard's samples, which all differ, at
  // most `empty` are taken, at most `empty` more equal one that was taken from another shard, and
  // at most one for each cluster is its last.
  std::vector<FarSample> Farthest(Index empty) const {
    FarthestPass pass(2 * empty + options_.clusters);
    std::vector<FarSample> all;
    shards_.Run(pass, context_, [&](Part& part) {
      const auto& far = dynamic_cast<FarSamples&>(part);
      for (size_t i = 0; i < far.samples.size(); ++i) {
        if (far.clusters[i] < 0 || far.clusters[i] >= options_.clusters) {
          throw Error(ErrorCode::kInvalidArgument, "far samples: there is no such cluster");
        }
        const auto at = static_cast<Index>(i);
        all.push_back({far.distances[at], far.samples[i], far.clusters[i], far.columns.col(at)});
      }
    });
    std::sort(all.begin(), all.end(), [](const FarSample& a, const FarSample& b) {
      return std::pair(b.distance, a.sample) < std::pair(a.distance, b.sample);
    });
    return all;
  }

  // The means of the clusters; an empty one stays where it was.
  static MatrixF Means(const MatrixF& before, const Sums& sums) {
    MatrixF centroids = before;
    for (Index cluster = 0; cluster < before.cols(); ++cluster) {
      const double count = sums["counts"](0, cluster);
      if (count == 0) continue;
      centroids.col(cluster) = (sums["totals"].col(cluster) / count).cast<float>();
    }
    return centroids;
  }

  const KMeansOptions& options_;
  Shards& shards_;
  const RunContext& context_;
};

void RequireSamples(const KMeansOptions& options, Index samples, const std::string& of_dimensions) {
  if (samples >= options.clusters) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("clusters: {} cannot be found in {} samples{}; ask for fewer clusters or "
                          "give more samples",
                          options.clusters, samples, of_dimensions));
}

}  // namespace

Trained<KMeans> TrainKMeans(const KMeansOptions& options, Shards& shards,
                            const RunContext& context) {
  options.Validate();
  RequireSamples(options, shards.size(), "");
  const Stopwatch watch;
  Trained<KMeans> trained;
  trained.summary.samples = shards.size();
  trained.summary.clusters = options.clusters;
  Lloyd lloyd(options, shards, context);
  trained.model = lloyd.Run(lloyd.MakeSeeds(), trained.summary);
  trained.summary.seconds = watch.seconds();
  return trained;
}

Trained<KMeans> TrainKMeans(const KMeansOptions& options, const ColumnSource& source,
                            const RunContext& context) {
  options.Validate();
  RequireSamples(options, source.dimension() > 0 ? source.size() : 0,
                 fmt::format(" of {} dimensions", source.dimension()));
  Shard shard(source);
  LocalShards shards({&shard});
  return TrainKMeans(options, shards, context);
}

std::unique_ptr<Pass> MakeKMeansPass(std::string_view name) {
  if (name == GatherPass().name()) return std::make_unique<GatherPass>();
  if (name == AssignPass().name()) return std::make_unique<AssignPass>();
  if (name == FarthestPass().name()) return std::make_unique<FarthestPass>();
  return nullptr;
}

}  // namespace bitpool
