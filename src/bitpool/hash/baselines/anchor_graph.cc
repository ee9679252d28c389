#include "bitpool/hash/baselines/anchor_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "bitpool/hash/baselines/head_training.h"
#include "bitpool/linalg/kmeans.h"

namespace bitpool {
namespace {

constexpr const char* kAnchorGraph = "the graph of anchors";
constexpr size_t kAnchoredColumns = 1024;
constexpr Index kSamplesPerAnchor = 4;
constexpr int kKMeansIterations = 10;

// The anchors nearest to a sample, the nearest first and the first of several at one distance. The
// scores are ‖a‖² − 2aᵀx.
void FindNearest(const VectorF& scores, Eigen::Ref<Eigen::VectorXi> nearest) {
  std::vector<int> order(static_cast<size_t>(scores.size()));
  std::iota(order.begin(), order.end(), 0);
  const auto nearer = [&](int a, int b) {
    return scores[a] != scores[b] ? scores[a] < scores[b] : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + nearest.size(), order.end(), nearer);
  std::copy_n(order.begin(), nearest.size(), nearest.data());
}

// Anchors and squared distances of some samples.
void TieBlock(const MatrixF& anchors, const VectorF& squares, const MatrixFRef& block,
              Eigen::Ref<Eigen::MatrixXi> nearest, Eigen::Ref<MatrixD> distances) {
  MatrixF scores(anchors.cols(), block.cols());
  scores.noalias() = -2 * (anchors.transpose() * block);
  scores.colwise() += squares;
  for (Index i = 0; i < block.cols(); ++i) {
    FindNearest(scores.col(i), nearest.col(i));
    for (Index k = 0; k < nearest.rows(); ++k) {
      distances(k, i) = (anchors.col(nearest(k, i)) - block.col(i)).cast<double>().squaredNorm();
    }
  }
}

// exp(−d²/σ²), scaled to sum to one for every sample.
void TurnIntoShares(MatrixD& distances) {
  const double sigma = distances.bottomRows(1).cwiseSqrt().mean();
  const double width = sigma > 0 ? sigma * sigma : 1;
  for (Index i = 0; i < distances.cols(); ++i) {
    auto column = distances.col(i);
    // The nearest distance is subtracted from all, so that not all shares become zero.
    column = (-(column.array() - column[0]) / width).exp();
    column /= column.sum();
  }
}

}  // namespace

void AnchorGraphOptions::Validate() const {
  RequireHeadCount(anchors, 2, kAnchorGraph, "anchors");
  RequireHeadCount(nearest, 1, kAnchorGraph, "nearest anchors");
}

AnchorGraph::AnchorGraph(const AnchorGraphOptions& options, const ColumnSource& samples,
                         const RunContext& context) {
  options.Validate();
  const Index count = std::clamp<Index>(samples.size() / kSamplesPerAnchor, 1, options.anchors);
  const KMeans kmeans = TrainKMeans({.clusters = count, .iterations = kKMeansIterations}, samples,
                                    context.WithoutProgress())
                            .model;
  const MatrixF& anchors = kmeans.centroids();
  const VectorF squares = anchors.colwise().squaredNorm();
  const Index ties = std::min<Index>(options.nearest, count);
  nearest_.resize(ties, samples.size());
  shares_.resize(ties, samples.size());
  context.ParallelFor(static_cast<size_t>(samples.size()), kAnchoredColumns,
                      [&](size_t begin, size_t end) {
                        const auto first = static_cast<Index>(begin);
                        const auto part = static_cast<Index>(end - begin);
                        MatrixF buffer;
                        TieBlock(anchors, squares, samples.Read(first, part, buffer),
                                 nearest_.middleCols(first, part), shares_.middleCols(first, part));
                      });
  TurnIntoShares(shares_);
  SumAnchors(count);
}

AnchorGraph::AnchorGraph(Index anchors, Eigen::MatrixXi nearest, MatrixD shares)
    : nearest_(std::move(nearest)), shares_(std::move(shares)) {
  SumAnchors(anchors);
}

void AnchorGraph::SumAnchors(Index anchors) {
  sums_ = VectorD::Zero(anchors);
  for (Index i = 0; i < size(); ++i) {
    for (Index k = 0; k < nearest_.rows(); ++k) sums_[nearest_(k, i)] += shares_(k, i);
  }
  sums_ = (sums_.array() > 0).select(sums_, 1.0);
}

MatrixD AnchorGraph::TimesLaplacian(const MatrixD& b, const RunContext& context) const {
  MatrixD of_anchors = MatrixD::Zero(b.rows(), sums_.size());  // BZ
  context.pool().OrderedReduce(
      static_cast<size_t>(size()), 8 * kAnchoredColumns, MatrixD(),
      [&](MatrixD& part, size_t begin, size_t end) {
        context.ThrowIfStopped();
        part.setZero(b.rows(), sums_.size());
        for (auto i = static_cast<Index>(begin); i < static_cast<Index>(end); ++i) {
          for (Index k = 0; k < nearest_.rows(); ++k) {
            part.col(nearest_(k, i)) += shares_(k, i) * b.col(i);
          }
        }
      },
      [&](const MatrixD& part) { of_anchors += part; });
  of_anchors = of_anchors * sums_.cwiseInverse().asDiagonal();
  MatrixD result(b.rows(), b.cols());
  context.ParallelFor(static_cast<size_t>(size()), kAnchoredColumns, [&](size_t begin, size_t end) {
    for (auto i = static_cast<Index>(begin); i < static_cast<Index>(end); ++i) {
      result.col(i) = b.col(i);
      for (Index k = 0; k < nearest_.rows(); ++k) {
        result.col(i) -= shares_(k, i) * of_anchors.col(nearest_(k, i));
      }
    }
  });
  return result;
}

}  // namespace bitpool
