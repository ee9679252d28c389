#include "bitpool/hash/view_sums.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bitpool/linalg/column_source.h"

namespace bitpool {
namespace {

constexpr Index kChunkPictures = 512;  // summed in single precision
static_assert(kShardAlignment % kChunkPictures == 0);
// Contrasts that are multiplied at once: enough for full speed, and few enough for the cache.
constexpr Index kPieceColumns = 512;

// The sums of a chunk.
struct ChunkSums {
  Index first = 0, pictures = 0;
  MatrixF within;  // lower triangle
  VectorD means;
  VectorD squares;  // row by row
};

// Of the images before, and of the image itself.
struct ContrastWeights {
  float before, own;
};

// Works on one piece of a chunk after the other. Plain loops: their order does not depend on where
// columns lie.
class ContrastSums {
 public:
  ContrastSums(const ViewVectors& images, ChunkSums& sums) : images_(images), sums_(sums) {
    const Index dimension = images.vectors.dimension();
    sums_.within.setZero(dimension, dimension);
    sums_.means.setZero(dimension);
    sums_.squares.setZero(dimension);
    offsets_.resize(dimension);
    for (Index k = 1; k < images.per_picture; ++k) {
      const auto order = static_cast<double>(k);
      const double length = std::sqrt(order * (order + 1));
      weights_.push_back({static_cast<float>(1 / length), static_cast<float>(order / length)});
    }
  }

  // Pictures [first, first + count) of the source, whose first image is called `number` in errors.
  void Add(Index first, Index count, Index number) {
    const Index each = images_.per_picture;
    const ColumnsView block = images_.vectors.Read(first * each, count * each, buffer_);
    contrasts_.resize(block.rows(), count * (each - 1));
    for (Index picture = 0; picture < count; ++picture) {
      Contrast(block, picture * each, picture * (each - 1));
      AddMean(block.col(picture * each).data());
    }
    sums_.within.selfadjointView<Eigen::Lower>().rankUpdate(contrasts_);
    // What is not finite in an image is not finite in the squares of its contrasts either. Sums
    // that are too large for single precision get past this, and FindWhitening refuses them.
    if (!sums_.means.allFinite() || !sums_.within.diagonal().allFinite()) {
      RequireFinite(block, number);
    }
  }

 private:
  // The contrasts of a picture, whose sums relative to its first image stay in offsets_.
  void Contrast(const ColumnsView& block, Index first, Index to) {
    const float* origin = block.col(first).data();
    float* sum = offsets_.data();
    std::fill(sum, sum + block.rows(), 0.0F);
    for (Index k = 1; k < images_.per_picture; ++k) {
      const auto& [before, own] = weights_[static_cast<size_t>(k - 1)];
      const float* image = block.col(first + k).data();
      float* contrast = contrasts_.col(to + k - 1).data();
      for (Index i = 0; i < block.rows(); ++i) {
        const float offset = image[i] - origin[i];
        contrast[i] = before * sum[i] - own * offset;
        sum[i] += offset;
      }
    }
  }

  void AddMean(const float* origin) {
    const double share = 1 / static_cast<double>(images_.per_picture);
    double* means = sums_.means.data();
    double* squares = sums_.squares.data();
    for (Index i = 0; i < offsets_.size(); ++i) {
      const double mean = static_cast<double>(origin[i]) + share * static_cast<double>(offsets_[i]);
      means[i] += mean;
      squares[i] += mean * mean;
    }
  }

  const ViewVectors& images_;
  ChunkSums& sums_;
  std::vector<ContrastWeights> weights_;  // of u₁, u₂, …
  VectorF offsets_;
  MatrixF buffer_, contrasts_;
};

void Join(const ChunkSums& chunk, Sums& sums) {
  MatrixD& within = sums["within"];
  for (Index col = 0; col < within.cols(); ++col) {
    const Index rows = within.rows() - col;
    within.col(col).tail(rows) += chunk.within.col(col).tail(rows).cast<double>();
  }
  sums["means"] += chunk.means;
  sums.number("squares") += chunk.squares.sum();
  sums.number("pictures") += static_cast<double>(chunk.pictures);
}

}  // namespace

Sums BlankViewSums(Index dimension) {
  return {{"within", dimension, dimension}, {"means", dimension, 1}, {"squares"}, {"pictures"}};
}

SumTerms<Sums> SumViews(const ShardPlace& pictures, const ViewVectors& images,
                        const RunContext& context) {
  pictures.Validate();
  const Index each = images.per_picture;
  const Index piece = std::max<Index>(1, kPieceColumns / std::max<Index>(1, each - 1));
  Progress progress =
      context.StartProgress("views", "pictures", static_cast<uint64_t>(pictures.count));
  TermBuilder<Sums> builder(pictures, BlankViewSums(images.vectors.dimension()));
  context.pool().OrderedReduce(
      static_cast<size_t>(pictures.count), kChunkPictures, ChunkSums{},
      [&](ChunkSums& chunk, size_t begin, size_t end) {
        context.ThrowIfStopped();
        const auto first = static_cast<Index>(begin), last = static_cast<Index>(end);
        chunk.first = pictures.first + first;
        chunk.pictures = last - first;
        ContrastSums sums(images, chunk);
        for (Index picture = first; picture < last; picture += piece) {
          sums.Add(picture, std::min(piece, last - picture), (pictures.first + picture) * each);
        }
      },
      [&](const ChunkSums& chunk) {
        Join(chunk, builder.At(chunk.first));
        progress.Advance(static_cast<uint64_t>(chunk.pictures));
      });
  return builder.Take();
}

Sums SumViews(const ViewVectors& images, const RunContext& context) {
  SumTerms<Sums> terms =
      SumViews({.count = images.pictures(), .total = images.pictures()}, images, context);
  TermMerger<Sums> merger;
  merger.Add(terms);
  return merger.Take(BlankViewSums(images.vectors.dimension()));
}

}  // namespace bitpool
