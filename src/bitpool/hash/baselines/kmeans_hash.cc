#include "bitpool/hash/baselines/kmeans_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/baselines/affinity_codebook.h"
#include "bitpool/hash/baselines/column_sample.h"
#include "bitpool/hash/baselines/product_encoder.h"
#include "bitpool/linalg/kmeans.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/pca.h"

namespace bitpool {
namespace {

constexpr size_t kKmhSamples = 1024;
constexpr uint64_t kKmhSampleStream = 1;
// Variances below this share of the largest are rounding in the moments.
constexpr float kSmallestVariance = 1e-6F;

struct Subspace {
  int bits = 0;
  Index first = 0;      // of its rows among the projected samples
  Index dimension = 0;  // at least its bits
};

// Subspaces with about the same number of dimensions for every bit. `dimension` is at least the
// bits, so rounding down leaves each subspace at least one dimension for every bit.
std::vector<Subspace> MakeSubspaces(const KMeansHashOptions& options, Index dimension) {
  std::vector<Subspace> subspaces;
  for (int used = 0; used < options.bits; used += options.subspace_bits) {
    const int bits = std::min(options.subspace_bits, options.bits - used);
    const Index first = dimension * used / options.bits;
    const Index end = dimension * (used + bits) / options.bits;
    subspaces.push_back({.bits = bits, .first = first, .dimension = end - first});
  }
  return subspaces;
}

// Eigenvalue allocation: the components, in the order of descending variance, go to the subspace
// whose product of variances is smallest so far (for each of its bits) and that has room. Returns
// the components in the order of the subspaces.
std::vector<Index> DealOutComponents(const VectorF& variances,
                                     const std::vector<Subspace>& subspaces) {
  const double floor = static_cast<double>(kSmallestVariance * variances[0]);
  std::vector<Index> order(static_cast<size_t>(variances.size()));
  std::vector<double> logarithms(subspaces.size());
  std::vector<Index> taken(subspaces.size());
  for (Index component = 0; component < variances.size(); ++component) {
    size_t chosen = subspaces.size();
    for (size_t i = 0; i < subspaces.size(); ++i) {
      if (taken[i] == subspaces[i].dimension) continue;
      if (chosen == subspaces.size() || logarithms[i] < logarithms[chosen]) chosen = i;
    }
    const double ratio = std::max(static_cast<double>(variances[component]), floor) / floor;
    // One more, so that components of the smallest variance count too.
    logarithms[chosen] += (std::log(ratio) + 1) / subspaces[chosen].bits;
    order[static_cast<size_t>(subspaces[chosen].first + taken[chosen]++)] = component;
  }
  return order;
}

// Principal components of the data, but for those without variance that no bit needs.
Pca UsefulComponents(const Moments& moments, int bits) {
  Pca pca = ComputePca(moments, moments.dimension());
  const float floor = kSmallestVariance * pca.variances[0];
  const Index varying = (pca.variances.array() > floor).count();
  const Index kept = std::max<Index>(varying, bits);
  pca.basis.conservativeResize(Eigen::NoChange, kept);
  pca.variances.conservativeResize(kept);
  return pca;
}

void ReorderComponents(const std::vector<Index>& order, Pca& pca) {
  const MatrixF basis = pca.basis;
  const VectorF variances = pca.variances;
  for (size_t i = 0; i < order.size(); ++i) {
    pca.basis.col(static_cast<Index>(i)) = basis.col(order[i]);
    pca.variances[static_cast<Index>(i)] = variances[order[i]];
  }
}

MatrixF ProjectAll(const Pca& pca, const ColumnSource& samples, const RunContext& context) {
  MatrixF projected(pca.components(), samples.size());
  context.ParallelFor(
      static_cast<size_t>(samples.size()), kKmhSamples, [&](size_t begin, size_t end) {
        const auto first = static_cast<Index>(begin);
        const auto count = static_cast<Index>(end - begin);
        MatrixF buffer;
        projected.middleCols(first, count) = pca.Project(samples.Read(first, count, buffer));
      });
  return projected;
}

// What samples add to an iteration.
struct Sums {
  std::vector<CellSums> cells;  // of each subspace
  Index flipped = 0;            // bits

  void Clear(const std::vector<Subspace>& subspaces) {
    cells.resize(subspaces.size());
    for (size_t i = 0; i < subspaces.size(); ++i) {
      const Index codewords = Index{1} << subspaces[i].bits;
      cells[i].counts.setZero(codewords);
      cells[i].totals.setZero(subspaces[i].dimension, codewords);
    }
    flipped = 0;
  }

  void Merge(const Sums& other) {
    for (size_t i = 0; i < cells.size(); ++i) {
      cells[i].counts += other.cells[i].counts;
      cells[i].totals += other.cells[i].totals;
    }
    flipped += other.flipped;
  }
};

// Affinity-preserving k-means in all subspaces at once.
class ProductTraining {
 public:
  ProductTraining(const KMeansHashOptions& options, const std::vector<Subspace>& subspaces,
                  const MatrixF& projected, const RunContext& context)
      : options_(options),
        subspaces_(subspaces),
        projected_(projected),
        context_(context),
        codes_(subspaces.size() * static_cast<size_t>(projected.cols())) {
    for (const Subspace& subspace : subspaces) {
      codebooks_.emplace_back(subspace.dimension, subspace.bits, HypercubeEdge(subspace));
      squares_.push_back(SumOfSquares(subspace));
    }
  }

  const std::vector<AffinityCodebook>& codebooks() const { return codebooks_; }

  void Run(TrainingSummary& summary) {
    const auto bits = static_cast<double>(options_.bits) * static_cast<double>(projected_.cols());
    Progress progress = context_.StartProgress("k-means hashing", "iterations",
                                               static_cast<uint64_t>(options_.iterations));
    double previous = std::numeric_limits<double>::infinity();
    for (int i = 0; i < options_.iterations && !summary.converged; ++i) {
      const Stopwatch watch;
      const Sums sums = AssignAll();
      TrainingIteration& iteration = summary.iterations.emplace_back();
      iteration.objective = UpdateAll(sums);
      iteration.flipped = i == 0 ? 1 : static_cast<double>(sums.flipped) / bits;
      iteration.seconds = watch.seconds();
      const double change = std::abs(iteration.objective - previous);
      summary.converged = i > 0 && change <= options_.tolerance * previous;
      previous = iteration.objective;
      progress.Advance();
    }
  }

 private:
  // Twice the mean size of the coordinates that make the bits, which is the hypercube that
  // quantises best when every sample takes the vertex of its signs.
  double HypercubeEdge(const Subspace& subspace) const {
    const double sum = SumOver(subspace.first, subspace.bits,
                               [](const auto& values) { return values.cwiseAbs().sum(); });
    return 2 * sum / (static_cast<double>(projected_.cols()) * subspace.bits);
  }

  double SumOfSquares(const Subspace& subspace) const {
    return SumOver(subspace.first, subspace.dimension,
                   [](const auto& values) { return values.squaredNorm(); });
  }

  // The sum over chunks of samples of what `term` makes of some of their rows.
  template <class Term>
  double SumOver(Index first_row, Index rows, const Term& term) const {
    double sum = 0;
    context_.pool().OrderedReduce(
        static_cast<size_t>(projected_.cols()), kKmhSamples, 0.0,
        [&](double& part, size_t begin, size_t end) {
          const auto first = static_cast<Index>(begin);
          const auto count = static_cast<Index>(end - begin);
          part = term(projected_.block(first_row, first, rows, count).template cast<double>());
        },
        [&](double part) { sum += part; });
    return sum;
  }

  Sums AssignAll() {
    std::vector<KMeans> quantisers;
    for (const AffinityCodebook& codebook : codebooks_) {
      quantisers.emplace_back(codebook.codewords().cast<float>());
    }
    Sums all;
    all.Clear(subspaces_);
    context_.pool().OrderedReduce(
        static_cast<size_t>(projected_.cols()), kKmhSamples, Sums(),
        [&](Sums& part, size_t begin, size_t end) {
          context_.ThrowIfStopped();
          part.Clear(subspaces_);
          for (size_t i = 0; i < subspaces_.size(); ++i) {
            AssignChunk(quantisers[i], i, static_cast<Index>(begin), static_cast<Index>(end), part);
          }
        },
        [&](const Sums& part) { all.Merge(part); });
    for (size_t i = 0; i < subspaces_.size(); ++i) all.cells[i].squares = squares_[i];
    return all;
  }

  void AssignChunk(const KMeans& quantiser, size_t which, Index begin, Index end, Sums& sums) {
    const Subspace& subspace = subspaces_[which];
    const auto block = projected_.block(subspace.first, begin, subspace.dimension, end - begin);
    const Assignment assignment = quantiser.Assign(block, begin);
    uint8_t* codes = codes_.data() + which * static_cast<size_t>(projected_.cols()) + begin;
    CellSums& cells = sums.cells[which];
    for (Index i = 0; i < block.cols(); ++i) {
      const auto code = static_cast<uint8_t>(assignment.clusters[static_cast<size_t>(i)]);
      sums.flipped += std::popcount(static_cast<uint8_t>(code ^ codes[i]));
      codes[i] = code;
      cells.counts[code] += 1;
      cells.totals.col(code) += block.col(i).cast<double>();
    }
  }

  // The objective after the update.
  double UpdateAll(const Sums& sums) {
    std::vector<double> objectives(codebooks_.size());
    context_.ParallelFor(codebooks_.size(), 1, [&](size_t i, size_t /*end*/) {
      codebooks_[i].Update(sums.cells[i], options_.lambda);
      objectives[i] = codebooks_[i].Objective(sums.cells[i], options_.lambda);
    });
    return std::accumulate(objectives.begin(), objectives.end(), 0.0);
  }

  const KMeansHashOptions& options_;
  const std::vector<Subspace>& subspaces_;
  const MatrixF& projected_;  // a row per component, a column per sample
  const RunContext& context_;
  std::vector<AffinityCodebook> codebooks_;
  std::vector<double> squares_;  // Σ ‖x‖² in each subspace
  std::vector<uint8_t> codes_;   // of each sample in the first subspace, then in the next
};

// The codewords of all subspaces as vectors of the whole space, relative to the mean.
std::shared_ptr<const ProductEncoder> MakeEncoder(const Pca& pca,
                                                  const std::vector<Subspace>& subspaces,
                                                  const std::vector<AffinityCodebook>& codebooks) {
  Index count = 0;
  for (const AffinityCodebook& codebook : codebooks) count += codebook.codewords().cols();
  MatrixF codewords(pca.dimension(), count);
  VectorF subspace_bits(static_cast<Index>(subspaces.size()));
  Index next = 0;
  for (size_t i = 0; i < subspaces.size(); ++i) {
    const MatrixD& local = codebooks[i].codewords();
    const MatrixD basis =
        pca.basis.middleCols(subspaces[i].first, subspaces[i].dimension).cast<double>();
    codewords.middleCols(next, local.cols()) = (basis * local).cast<float>();
    subspace_bits[static_cast<Index>(i)] = static_cast<float>(subspaces[i].bits);
    next += local.cols();
  }
  return std::make_shared<ProductEncoder>(pca.mean, std::move(codewords), std::move(subspace_bits));
}

void CheckData(const KMeansHashOptions& options, const ColumnSource& source) {
  if (options.bits > source.dimension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("bits: k-means hashing of {0} dimensions has at most {0} bits, got {1}",
                            source.dimension(), options.bits));
  }
}

void CheckSamples(const KMeansHashOptions& options, Index samples) {
  const Index codewords = Index{1} << std::min(options.subspace_bits, options.bits);
  if (samples >= codewords) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} training samples for {} codewords in a subspace; ask for fewer bits "
                          "in a subspace or give more samples",
                          samples, codewords));
}

}  // namespace

void KMeansHashOptions::Validate() const {
  RequireBits(bits);
  RequireOption(subspace_bits >= 1 && subspace_bits <= 8, "subspace_bits", "1 to 8", subspace_bits);
  RequireOption(lambda >= 0 && std::isfinite(lambda), "lambda", "0 or more", lambda);
  RequireOption(iterations >= 0, "iterations", "0 or more", iterations);
  RequireOption(tolerance >= 0 && tolerance < 1, "tolerance", "a number in [0, 1)", tolerance);
  RequireOption(samples >= 0, "samples", "0 (all) or more", samples);
}

Trained<HashModel> TrainKMeansHash(const KMeansHashOptions& options, const ColumnSource& source,
                                   const RunContext& context) {
  options.Validate();
  CheckData(options, source);
  const Stopwatch watch;
  const Moments moments = ComputeMoments(source, context);
  RequireTrainable(moments);
  Pca pca = UsefulComponents(moments, options.bits);
  const Index count = SamplesInMemory(options.samples, source.size(), 4 * pca.components());
  CheckSamples(options, count);
  const std::vector<Subspace> subspaces = MakeSubspaces(options, pca.components());
  ReorderComponents(DealOutComponents(pca.variances, subspaces), pca);
  const ColumnSample samples(source, count, context.MakeRandom(kKmhSampleStream));
  const MatrixF projected = ProjectAll(pca, samples, context);

  Trained<HashModel> trained;
  trained.summary.samples = count;
  ProductTraining training(options, subspaces, projected, context);
  training.Run(trained.summary);
  trained.model.method = "kmh";
  trained.model.encoder = MakeEncoder(pca, subspaces, training.codebooks());
  trained.model.decoder = FitDecoder(*trained.model.encoder, source, context);
  trained.summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
