#pragma once

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/linalg/moments.h"

// How moments are computed; included by moments.cc only.
namespace bitpool::moments_internal {

// Columns summed in single precision before they join the sums in double precision.
inline constexpr Index kChunkColumns = 1024;
// Side of the square tiles of a product that threads share: as large as needed to multiply at full
// speed.
inline constexpr Index kTile = 512;
// With fewer tiles than this the threads share chunks, not tiles, and find them in their caches.
inline constexpr size_t kManyTiles = 8;
// Chunks in flight, as many as this number of values allows.
inline constexpr Index kBatchValues = Index{1} << 23;
inline constexpr Index kMinBatch = 2, kMaxBatch = 16;
// Columns of the sums that a thread updates at once.
inline constexpr Index kStrip = 64;

// One chunk of one source, centred by its own mean.
struct CentredChunk {
  MatrixF buffer;
  MatrixF values;
  VectorD mean;

  // Columns [first, first + count) of the source, of which the first is called `number` in errors.
  void Load(const ColumnSource& source, Index first, Index count, Index number) {
    const ColumnsView block = source.Read(first, count, buffer);
    mean.setZero(block.rows());
    for (Index column = 0; column < count; ++column) AddColumn(block.col(column).data());
    // Sums of floats cannot overflow a double, so a sum that is not finite contains a value that is
    // not.
    if (!mean.allFinite()) RequireFinite(block, number);
    mean /= static_cast<double>(count);
    values.resize(block.rows(), count);
    for (Index column = 0; column < count; ++column) {
      CentreColumn(block.col(column).data(), values.col(column).data());
    }
  }

 private:
  void AddColumn(const float* column) {
    double* sum = mean.data();
    for (Index i = 0; i < mean.size(); ++i) sum[i] += static_cast<double>(column[i]);
  }

  void CentreColumn(const float* column, float* centred) const {
    const double* centre = mean.data();
    for (Index i = 0; i < mean.size(); ++i) {
      centred[i] = static_cast<float>(static_cast<double>(column[i]) - centre[i]);
    }
  }
};

// How a chunk (or a part) b joins the sums so far, a:
// S = Sa + Sb + (na nb / n) δδᵀ with δ = mean_b − mean_a, and mean = mean_a + (nb / n) δ.
struct Join {
  Join(Index a, Index b)
      : correction(static_cast<double>(a) * (static_cast<double>(b) / static_cast<double>(a + b))),
        step(static_cast<double>(b) / static_cast<double>(a + b)) {}
  double correction;
  double step;
};

// The part [row, row + rows) × [col, col + cols) of a product of inputs with themselves, or of
// targets with inputs.
struct Tile {
  bool cross;
  Index row, col, rows, cols;
};

// A chunk of the batch in flight, with the products of its columns.
struct ChunkProducts {
  CentredChunk inputs, targets;
  MatrixF scatter;  // lower triangle
  MatrixF cross;
  double correction = 0;

  void Multiply(const Tile& tile) {
    const CentredChunk& left = tile.cross ? targets : inputs;
    MatrixF& product = tile.cross ? cross : scatter;
    const auto rows = static_cast<int>(tile.rows), cols = static_cast<int>(tile.cols);
    const auto count = static_cast<int>(inputs.values.cols());
    const auto left_stride = static_cast<int>(left.values.rows());
    const auto right_stride = static_cast<int>(inputs.values.rows());
    const auto out_stride = static_cast<int>(product.rows());
    const float* a = left.values.data() + tile.row;
    const float* b = inputs.values.data() + tile.col;
    float* out = &product(tile.row, tile.col);
    if (!tile.cross && tile.row == tile.col) {
      cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, rows, count, 1.0F, a, left_stride, 0.0F,
                  out, out_stride);
    } else {
      cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows, cols, count, 1.0F, a, left_stride,
                  b, right_stride, 0.0F, out, out_stride);
    }
  }
};

// sums[top..] += product[top..] + slope · difference[top..], one column. Chunks and merged sums are
// both added by this, so that their bits agree.
template <class T>
void AddColumn(const T* product, const double* difference, double slope, Index top, Index size,
               double* sums) {
  for (Index i = top; i < size; ++i) {
    sums[i] += static_cast<double>(product[i]) + slope * difference[i];
  }
}

inline constexpr const char* kOneTargetEach = "number of targets (one for every input)";

inline void CheckSameSize(Index expected, Index got, const char* what) {
  if (expected == got) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: expected {}, got {}", what, expected, got));
}

inline void RequireCount(Index count) {
  if (count >= 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("number of samples: expected 0 or more, got {}", count));
}

inline void ThrowTooLarge() {
  throw Error(ErrorCode::kInvalidArgument,
              "the data has values so large that their products do not fit into single precision; "
              "divide it by its largest value first");
}

inline void CopyLowerToUpper(MatrixD& matrix) {
  matrix.triangularView<Eigen::StrictlyUpper>() = matrix.transpose();
}

// A run of columns of a source.
struct ColumnRun {
  Index begin = 0;
  Index size = 0;
  Index number = 0;  // what errors call its first column
};

// Adds columns of sources to whichever sums are wanted. Batch by batch: chunks are read, centred
// and multiplied in parallel, by chunk or by tile; then strips of the sums are updated in parallel,
// each from all chunks in their order. So there is one copy of the sums, no serial part that grows
// with the threads, and a result that depends only on the data.
class MomentsEngine {
 public:
  MomentsEngine(Moments& moments, const ColumnSource& source, const ColumnRun& run)
      : inputs_(source),
        run_(run),
        count_(moments.count_),
        input_mean_(moments.mean_),
        scatter_(&moments.scatter_) {
    CheckSameSize(moments.dimension(), source.dimension(), "dimension of the samples");
  }

  MomentsEngine(CrossScatter& cross, const ColumnSource& inputs, const ColumnSource& targets,
                const ColumnRun& run)
      : inputs_(inputs), run_(run), count_(cross.count_), input_mean_(cross.input_mean_) {
    AttachTargets(cross, targets);
  }

  MomentsEngine(CrossMoments& moments, const ColumnSource& inputs, const ColumnSource& targets,
                const ColumnRun& run)
      : inputs_(inputs),
        run_(run),
        count_(moments.inputs_.count_),
        input_mean_(moments.inputs_.mean_),
        scatter_(&moments.inputs_.scatter_) {
    AttachTargets(moments.cross_, targets);
  }

  // On this thread alone.
  void Run() {
    RunBatches(
        [](size_t count, const auto& body) {
          for (size_t i = 0; i < count; ++i) body(i);
        },
        nullptr);
  }

  void Run(const RunContext& context, Progress& progress) {
    RunBatches(
        [&](size_t count, const auto& body) {
          context.ParallelFor(count, 1, [&](size_t begin, size_t /*end*/) { body(begin); });
        },
        &progress);
  }

 private:
  // loop(count, body) calls body(i) for every i in [0, count), in any order.
  template <class Loop>
  void RunBatches(const Loop& loop, Progress* progress) {
    const std::vector<Tile> tiles = MakeTiles();
    const Index batch = BatchSize();
    const Index chunks = (run_.size + kChunkColumns - 1) / kChunkColumns;
    const Index strips = (inputs_.dimension() + kStrip - 1) / kStrip;
    for (Index first = 0; first < chunks; first += batch) {
      parts_.resize(static_cast<size_t>(std::min(batch, chunks - first)));
      const bool by_tile = tiles.size() >= kManyTiles;
      loop(parts_.size(), [&](size_t i) {
        Load(first, i);
        if (progress != nullptr)
          progress->Advance(static_cast<uint64_t>(parts_[i].inputs.values.cols()));
        for (size_t tile = 0; !by_tile && tile < tiles.size(); ++tile) {
          parts_[i].Multiply(tiles[tile]);
        }
      });
      if (by_tile) {
        loop(parts_.size() * tiles.size(),
             [&](size_t i) { parts_[i / tiles.size()].Multiply(tiles[i % tiles.size()]); });
      }
      JoinMeans();
      loop(static_cast<size_t>(strips), [&](size_t i) { JoinStrip(static_cast<Index>(i)); });
    }
    Finish();
  }

  void AttachTargets(CrossScatter& cross, const ColumnSource& targets) {
    CheckSameSize(cross.input_mean_.size(), inputs_.dimension(), "dimension of the inputs");
    CheckSameSize(cross.target_mean_.size(), targets.dimension(), "dimension of the targets");
    CheckSameSize(inputs_.size(), targets.size(), kOneTargetEach);
    targets_ = &targets;
    cross_ = &cross;
  }

  Index BatchSize() const {
    const Index rows = inputs_.dimension() + (targets_ != nullptr ? targets_->dimension() : 0);
    const Index values = std::max(Index{1}, rows * std::max(kChunkColumns, inputs_.dimension()));
    return std::clamp(kBatchValues / values, kMinBatch, kMaxBatch);
  }

  std::vector<Tile> MakeTiles() const {
    std::vector<Tile> tiles;
    const auto add = [&](bool cross, Index row, Index col) {
      const Index rows = cross ? targets_->dimension() : inputs_.dimension();
      tiles.push_back({.cross = cross,
                       .row = row,
                       .col = col,
                       .rows = std::min(kTile, rows - row),
                       .cols = std::min(kTile, inputs_.dimension() - col)});
    };
    for (Index col = 0; col < inputs_.dimension(); col += kTile) {
      if (scatter_ != nullptr) {
        for (Index row = col; row < inputs_.dimension(); row += kTile) add(false, row, col);
      }
      if (cross_ != nullptr) {
        for (Index row = 0; row < targets_->dimension(); row += kTile) add(true, row, col);
      }
    }
    return tiles;
  }

  void Load(Index first_chunk, size_t i) {
    const Index offset = (first_chunk + static_cast<Index>(i)) * kChunkColumns;
    const Index count = std::min(kChunkColumns, run_.size - offset);
    const Index first = run_.begin + offset, number = run_.number + offset;
    ChunkProducts& part = parts_[i];
    part.inputs.Load(inputs_, first, count, number);
    if (scatter_ != nullptr) part.scatter.resize(scatter_->rows(), scatter_->cols());
    if (targets_ != nullptr) {
      part.targets.Load(*targets_, first, count, number);
      part.cross.resize(cross_->scatter_.rows(), cross_->scatter_.cols());
    }
  }

  // Moves the means over all chunks; the means of the chunks become their differences.
  void JoinMeans() {
    for (ChunkProducts& part : parts_) {
      const Index count = part.inputs.values.cols();
      const Join join(count_, count);
      part.correction = join.correction;
      part.inputs.mean -= input_mean_;
      input_mean_ += join.step * part.inputs.mean;
      if (targets_ != nullptr) {
        part.targets.mean -= cross_->target_mean_;
        cross_->target_mean_ += join.step * part.targets.mean;
      }
      count_ += count;
    }
  }

  void JoinStrip(Index strip) {
    const Index end = std::min((strip + 1) * kStrip, inputs_.dimension());
    for (const ChunkProducts& part : parts_) {
      for (Index col = strip * kStrip; col < end; ++col) {
        const double slope = part.correction * part.inputs.mean[col];
        if (scatter_ != nullptr) {
          AddColumn(part.scatter.col(col).data(), part.inputs.mean.data(), slope, col,
                    scatter_->rows(), scatter_->col(col).data());
        }
        if (cross_ != nullptr) {
          AddColumn(part.cross.col(col).data(), part.targets.mean.data(), slope, 0,
                    cross_->scatter_.rows(), cross_->scatter_.col(col).data());
        }
      }
    }
  }

  void Finish() {
    if (scatter_ != nullptr) {
      // No entry is larger than the largest on the diagonal, so only that one can overflow first.
      if (!scatter_->diagonal().allFinite()) ThrowTooLarge();
      CopyLowerToUpper(*scatter_);
    }
    if (cross_ != nullptr) {
      if (!cross_->scatter_.allFinite()) ThrowTooLarge();
      cross_->count_ = count_;
      cross_->input_mean_ = input_mean_;
    }
  }

  const ColumnSource& inputs_;
  const ColumnSource* targets_ = nullptr;
  ColumnRun run_;

  // The sums; those that are null are not wanted.
  Index& count_;
  VectorD& input_mean_;
  MatrixD* scatter_ = nullptr;
  CrossScatter* cross_ = nullptr;

  std::vector<ChunkProducts> parts_;  // the batch in flight
};

}  // namespace bitpool::moments_internal
