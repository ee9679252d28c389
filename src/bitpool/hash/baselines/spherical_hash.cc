#include "bitpool/hash/baselines/spherical_hash.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/baselines/column_sample.h"
#include "bitpool/hash/baselines/sphere_encoder.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/reductions.h"

namespace bitpool {
namespace {

constexpr size_t kSphSamples = 1024;
// After this many moves without a better balance the spheres are put back where it was best: where
// many samples are equal, no balance may be possible, and the centres repel each other for ever.
constexpr int kFruitlessMoves = 20;
constexpr Index kPivotSamples = 5;  // a centre starts as the mean of this many, as the authors do
constexpr uint64_t kSphSampleStream = 1, kPivotStream = 2;

// The first centres. Where there are so few samples that the means would all be alike, they are
// means of half of them.
MatrixF DrawPivots(const ColumnSource& samples, int bits, Random random) {
  const Index each = std::min(kPivotSamples, samples.size() / 2);
  MatrixF pivots(samples.dimension(), bits);
  for (Index i = 0; i < bits; ++i) {
    const std::vector<uint64_t> drawn =
        random.Sample(static_cast<uint64_t>(samples.size()), static_cast<uint64_t>(each));
    const MatrixF columns = GatherColumns(samples, std::vector<Index>(drawn.begin(), drawn.end()));
    pivots.col(i) = columns.cast<double>().rowwise().mean().cast<float>();
  }
  return pivots;
}

// How far the spheres are from the goal, as shares of m/4.
struct Balance {
  double mean_error = 0;  // of |o_ij − m/4| over the pairs
  double deviation = 0;   // standard deviation of o_ij
  double flipped = 0;     // share of the (sample, sphere) pairs that changed sides
};

// Spheres being placed. A move adds to each centre multiples of its differences to the others, so
// the centres are always combinations P·T of the first ones, P, and the products of all samples
// with P, made once, give the distances for every T: a move costs n·L² operations instead of n·D·L,
// and the samples need not stay in memory. All is relative to the mean of the data.
class SpherePlacement {
 public:
  SpherePlacement(const ColumnSource& samples, const MatrixF& pivots, const VectorF& mean,
                  const RunContext& context)
      : context_(context),
        mean_(mean),
        pivots_((pivots.colwise() - mean).cast<double>()),
        gram_(pivots_.transpose() * pivots_),
        combination_(MatrixD::Identity(pivots.cols(), pivots.cols())),
        products_(samples.size(), pivots.cols()),
        squared_norms_(samples.size()),
        distances_(samples.size(), pivots.cols()),
        squared_radii_(VectorF::Zero(pivots.cols())),
        inside_(static_cast<size_t>(pivots.cols()),
                std::vector<uint64_t>((static_cast<size_t>(samples.size()) + 63) / 64)),
        overlaps_(MatrixD::Zero(pivots.cols(), pivots.cols())) {
    const MatrixF centred = pivots.colwise() - mean;
    context_.ParallelFor(Samples(), kSphSamples, [&](size_t begin, size_t end) {
      const auto first = static_cast<Index>(begin);
      const auto count = static_cast<Index>(end - begin);
      MatrixF buffer;
      const MatrixF shifted = samples.Read(first, count, buffer).colwise() - mean;
      products_.middleRows(first, count).noalias() = shifted.transpose() * centred;
      for (Index i = 0; i < count; ++i) {
        const float* sample = shifted.col(i).data();
        squared_norms_[first + i] = static_cast<float>(Dot(sample, sample, shifted.rows()));
      }
    });
  }

  // Sets the radii so that half of the samples lie inside each sphere, and counts the overlaps.
  Balance Measure() {
    ComputeDistances();
    std::vector<size_t> flipped(inside_.size());
    context_.ParallelFor(inside_.size(), 1, [&](size_t sphere, size_t /*end*/) {
      const auto column = distances_.col(static_cast<Index>(sphere));
      squared_radii_[static_cast<Index>(sphere)] = HalvingRadius(column);
      flipped[sphere] = MarkInside(sphere);
    });
    CountOverlaps();
    Balance balance = PairStatistics();
    size_t all_flipped = 0;
    for (const size_t count : flipped) all_flipped += count;
    balance.flipped = static_cast<double>(all_flipped) / static_cast<double>(distances_.size());
    return balance;
  }

  // Moves every centre by the mean of its forces, f_i = 1/L Σ_j ½ (o_ij − m/4)/(m/4) (p_i − p_j).
  void Move() {
    const double quarter = Quarter();
    const auto spheres = static_cast<double>(overlaps_.cols());
    MatrixD forces = (overlaps_.array() - quarter).matrix() / (2 * quarter * spheres);
    forces.diagonal().setZero();
    MatrixD move = -forces;
    move.diagonal() += VectorD::Ones(overlaps_.cols()) + forces.rowwise().sum();
    combination_ *= move;
  }

  MatrixF Centres() const {
    const MatrixD centres = pivots_ * combination_;
    return (centres.colwise() + mean_.cast<double>()).cast<float>();
  }
  const VectorF& squared_radii() const { return squared_radii_; }

  // Where the spheres are, so that they can be put back there.
  struct Placement {
    MatrixD combination;
    VectorF squared_radii;
  };
  Placement placement() const { return {combination_, squared_radii_}; }
  void PutBack(const Placement& placement) {
    combination_ = placement.combination;
    squared_radii_ = placement.squared_radii;
  }

 private:
  size_t Samples() const { return static_cast<size_t>(products_.rows()); }
  double Quarter() const { return static_cast<double>(products_.rows()) / 4; }

  void ComputeDistances() {
    const VectorD norms = (gram_ * combination_).cwiseProduct(combination_).colwise().sum();
    const Eigen::RowVectorXf centre_norms = norms.cast<float>().transpose();
    const MatrixF minus_twice = (-2 * combination_).cast<float>();
    context_.ParallelFor(Samples(), kSphSamples, [&](size_t begin, size_t end) {
      const auto first = static_cast<Index>(begin);
      const auto count = static_cast<Index>(end - begin);
      auto rows = distances_.middleRows(first, count);
      rows.noalias() = products_.middleRows(first, count) * minus_twice;
      rows.colwise() += squared_norms_.segment(first, count);
      rows.rowwise() += centre_norms;
    });
  }

  // Halfway between the last distance inside and the first outside, where rounding in the encoder
  // changes no side. Never negative, although rounding could make a distance of zero so.
  static float HalvingRadius(const VectorFRef& squared_distances) {
    std::vector<float> sorted(squared_distances.begin(), squared_distances.end());
    const auto outside = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), outside, sorted.end());
    const float last_inside = *std::max_element(sorted.begin(), outside);
    return std::max(0.0F, last_inside + (*outside - last_inside) / 2);
  }

  // How many samples changed sides.
  size_t MarkInside(size_t sphere) {
    const auto column = static_cast<Index>(sphere);
    const float radius = squared_radii_[column];
    const float* distance = distances_.col(column).data();
    size_t changed = 0;
    for (size_t word = 0; word < inside_[sphere].size(); ++word) {
      const size_t first = word * 64;
      const size_t count = std::min<size_t>(64, Samples() - first);
      uint64_t bits = 0;
      for (size_t i = 0; i < count; ++i) {
        bits |= static_cast<uint64_t>(distance[first + i] <= radius ? 1 : 0) << i;
      }
      changed += static_cast<size_t>(std::popcount(bits ^ inside_[sphere][word]));
      inside_[sphere][word] = bits;
    }
    return changed;
  }

  void CountOverlaps() {
    context_.ParallelFor(inside_.size(), 1, [&](size_t i, size_t /*end*/) {
      for (size_t j = 0; j < i; ++j) {
        size_t shared = 0;
        for (size_t word = 0; word < inside_[i].size(); ++word) {
          shared += static_cast<size_t>(std::popcount(inside_[i][word] & inside_[j][word]));
        }
        overlaps_(static_cast<Index>(i), static_cast<Index>(j)) = static_cast<double>(shared);
        overlaps_(static_cast<Index>(j), static_cast<Index>(i)) = static_cast<double>(shared);
      }
    });
  }

  Balance PairStatistics() const {
    const Index spheres = overlaps_.cols();
    if (spheres == 1) return {};
    const double quarter = Quarter();
    double error = 0, sum = 0, squares = 0;
    for (Index i = 0; i < spheres; ++i) {
      for (Index j = 0; j < i; ++j) {
        const double excess = overlaps_(i, j) / quarter - 1;
        error += std::abs(excess);
        sum += excess;
        squares += excess * excess;
      }
    }
    const double pairs = static_cast<double>(spheres) * static_cast<double>(spheres - 1) / 2;
    Balance balance;
    balance.mean_error = error / pairs;
    balance.deviation = std::sqrt(std::max(0.0, squares / pairs - sum / pairs * (sum / pairs)));
    return balance;
  }

  const RunContext& context_;
  VectorF mean_;
  MatrixD pivots_;       // P, D×L
  MatrixD gram_;         // PᵀP
  MatrixD combination_;  // T
  MatrixF products_;     // of the samples with P, n×L
  VectorF squared_norms_;
  MatrixF distances_;  // squared, of the samples from the centres, n×L
  VectorF squared_radii_;
  std::vector<std::vector<uint64_t>> inside_;  // of each sphere, a bit per sample
  MatrixD overlaps_;                           // o_ij; the diagonal is not used
};

std::shared_ptr<const SphereEncoder> PlaceSpheres(const SphericalHashOptions& options,
                                                  const ColumnSource& samples, const VectorF& mean,
                                                  const RunContext& context,
                                                  TrainingSummary& summary) {
  const MatrixF pivots = DrawPivots(samples, options.bits, context.MakeRandom(kPivotStream));
  SpherePlacement spheres(samples, pivots, mean, context);
  double least_error = spheres.Measure().mean_error;
  SpherePlacement::Placement best = spheres.placement();
  int moves_since_best = 0;
  Progress progress = context.StartProgress("spherical hashing", "iterations",
                                            static_cast<uint64_t>(options.iterations));
  for (int i = 0; i < options.iterations && !summary.converged; ++i) {
    context.ThrowIfStopped();
    const Stopwatch watch;
    spheres.Move();
    const Balance balance = spheres.Measure();
    TrainingIteration& iteration = summary.iterations.emplace_back();
    iteration.objective = balance.mean_error;
    iteration.flipped = balance.flipped;
    iteration.seconds = watch.seconds();
    summary.converged = balance.mean_error <= options.mean_tolerance &&
                        balance.deviation <= options.deviation_tolerance;
    if (balance.mean_error < least_error) {
      least_error = balance.mean_error;
      best = spheres.placement();
      moves_since_best = 0;
    } else if (++moves_since_best == kFruitlessMoves && !summary.converged) {
      spheres.PutBack(best);
      break;
    }
    progress.Advance();
  }
  return std::make_shared<SphereEncoder>(spheres.Centres(), spheres.squared_radii());
}

}  // namespace

void SphericalHashOptions::Validate() const {
  RequireBits(bits);
  RequireOption(iterations >= 0, "iterations", "0 or more", iterations);
  RequireOption(mean_tolerance >= 0, "mean_tolerance", "0 or more", mean_tolerance);
  RequireOption(deviation_tolerance >= 0, "deviation_tolerance", "0 or more", deviation_tolerance);
  RequireOption(samples == 0 || samples >= 2, "samples", "0 (all) or at least 2", samples);
}

Trained<HashModel> TrainSphericalHash(const SphericalHashOptions& options,
                                      const ColumnSource& source, const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  const Moments moments = ComputeMoments(source, context);
  RequireTrainable(moments);
  // Of every sample, a product and a distance for each sphere.
  const Index count = SamplesInMemory(options.samples, source.size(), Index{8} * options.bits);
  const ColumnSample samples(source, count, context.MakeRandom(kSphSampleStream));

  Trained<HashModel> trained;
  trained.summary.samples = count;
  trained.model.method = "sph";
  trained.model.encoder =
      PlaceSpheres(options, samples, moments.mean().cast<float>(), context, trained.summary);
  trained.model.decoder = FitDecoder(*trained.model.encoder, source, context);
  trained.summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
