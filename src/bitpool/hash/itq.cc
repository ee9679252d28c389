#include "bitpool/hash/itq.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/codes/sign_bits.h"
#include "bitpool/linalg/pca.h"
#include "bitpool/linalg/procrustes.h"

namespace bitpool {
namespace {

constexpr uint64_t kSampleStream = 1, kRotationStream = 2;
// Columns a thread works on at once: the projections and their rotation stay in its cache.
constexpr size_t kChunkColumns = 512;
// From this share of changed bits on, one matrix product is faster than adding column by column.
constexpr double kManyFlips = 0.1;

// How many columns of each chunk are used, so that all chunks give the same share.
Index ColumnsToUse(Index chunk, Index size, double share) {
  return share >= 1 ? size
                    : std::clamp<Index>(std::lround(share * static_cast<double>(size)),
                                        chunk == 0 ? std::min<Index>(size, 1) : 0, size);
}

// V of the samples, or of as many of them as fit. The sample is drawn within every chunk, so that
// the source is read once and in order.
MatrixF ProjectSamples(const ItqProjection& project, Index rows, const ColumnSource& source,
                       size_t memory, const RunContext& context) {
  const double wanted = static_cast<double>(memory) / (4.0 * static_cast<double>(rows));
  const double share = wanted / static_cast<double>(source.size());
  const auto chunk_size = static_cast<Index>(kChunkColumns);
  const Index chunks = (source.size() + chunk_size - 1) / chunk_size;
  std::vector<Index> starts(static_cast<size_t>(chunks) + 1, 0);
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    const Index size = std::min(chunk_size, source.size() - chunk * chunk_size);
    starts[static_cast<size_t>(chunk) + 1] =
        starts[static_cast<size_t>(chunk)] + ColumnsToUse(chunk, size, share);
  }
  MatrixF projected(rows, starts.back());
  const Random random = context.MakeRandom(kSampleStream);
  Progress progress =
      context.StartProgress("projecting", "vectors", static_cast<uint64_t>(source.size()));
  context.ParallelFor(static_cast<size_t>(chunks), 1, [&](size_t chunk, size_t /*end*/) {
    const Index first = static_cast<Index>(chunk) * chunk_size;
    const Index size = std::min(chunk_size, source.size() - first);
    const Index used = starts[chunk + 1] - starts[chunk];
    progress.Advance(static_cast<uint64_t>(size));
    if (used == 0) return;
    MatrixF buffer;
    const ColumnsView block = source.Read(first, size, buffer);
    if (used == size) {
      projected.middleCols(starts[chunk], used) = project(block);
      return;
    }
    Random mine = random.Fork(chunk);
    std::vector<uint64_t> columns =
        mine.Sample(static_cast<uint64_t>(size), static_cast<uint64_t>(used));
    std::ranges::sort(columns);
    MatrixF chosen(block.rows(), used);
    for (Index i = 0; i < used; ++i) {
      chosen.col(i) = block.col(static_cast<Index>(columns[static_cast<size_t>(i)]));
    }
    projected.middleCols(starts[chunk], used) = project(chosen);
  });
  return projected;
}

// The alternation. Codes change little from one iteration to the next, so V·Bᵀ is not computed
// anew: only what the changed bits add to it.
class Rotation {
 public:
  Rotation(const MatrixF& projected, int bits, const RunContext& context)
      : projected_(projected),
        bits_(bits),
        context_(context),
        rows_(static_cast<size_t>(projected.cols()) * BytesPerCode(bits)),
        products_(MatrixD::Zero(projected.rows(), bits)) {
    Random random = context.MakeRandom(kRotationStream);
    rotation_ = RandomOrthogonal(bits, random).leftCols(projected.rows());
    for (Index i = 0; i < projected.cols(); ++i) squares_ += Square(projected.col(i));
  }

  const MatrixF& rotation() const { return rotation_; }

  // B from R, then R from B.
  TrainingIteration Iterate() {
    const Stopwatch watch;
    uint64_t flips = 0;
    context_.pool().OrderedReduce(
        static_cast<size_t>(projected_.cols()), kChunkColumns, Part{},
        [&](Part& part, size_t begin, size_t end) {
          context_.ThrowIfStopped();
          UpdateCodes(part, static_cast<Index>(begin), static_cast<Index>(end - begin));
        },
        [&](const Part& part) {
          flips += part.flips;
          products_ += part.change.cast<double>();
        });
    first_ = false;
    const MatrixD cross = products_.transpose();  // B Vᵀ
    rotation_ = NearestOrthogonal(cross.cast<float>());
    // ‖B − RV‖² = ‖B‖² + ‖V‖² − 2 tr(Rᵀ B Vᵀ), since the columns of R are orthonormal.
    const auto samples = static_cast<double>(projected_.cols());
    const double match = rotation_.cast<double>().cwiseProduct(cross).sum();
    TrainingIteration record;
    record.objective = std::max(0.0, bits_ + (squares_ - 2 * match) / samples);
    record.quantisation = record.objective;
    record.flipped = static_cast<double>(flips) / (samples * bits_);
    record.seconds = watch.seconds();
    return record;
  }

 private:
  // What a chunk of samples adds to V·Bᵀ.
  struct Part {
    MatrixF change;  // components × bits
    uint64_t flips = 0;
    MatrixF rotated;
    std::vector<uint8_t> codes;
  };

  static double Square(const VectorFRef& v) { return v.cast<double>().squaredNorm(); }

  void UpdateCodes(Part& part, Index first, Index count) {
    const size_t bytes = BytesPerCode(bits_);
    const auto block = projected_.middleCols(first, count);
    part.rotated.resize(bits_, count);
    part.rotated.noalias() = rotation_ * block;
    part.codes.resize(static_cast<size_t>(count) * bytes);
    PackSigns(part.rotated.data(), bits_, count, part.codes.data());
    uint8_t* old = rows_.data() + static_cast<size_t>(first) * bytes;
    part.flips = first_
                     ? static_cast<uint64_t>(count * bits_)
                     : static_cast<uint64_t>(HammingDistance(part.codes, {old, part.codes.size()}));
    part.change.resize(projected_.rows(), bits_);
    if (static_cast<double>(part.flips) > kManyFlips * static_cast<double>(count * bits_)) {
      AddByProduct(part, block, old);
    } else {
      AddByFlips(part, block, old);
    }
    std::ranges::copy(part.codes, old);
  }

  template <class Block>
  void AddByProduct(Part& part, const Block& block, const uint8_t* old) const {
    MatrixF change(bits_, block.cols());
    UnpackSigns(part.codes.data(), bits_, block.cols(), change.data());
    if (!first_) {
      UnpackSigns(old, bits_, block.cols(), part.rotated.data());
      change -= part.rotated;
    }
    part.change.noalias() = block * change.transpose();
  }

  template <class Block>
  void AddByFlips(Part& part, const Block& block, const uint8_t* old) const {
    part.change.setZero();
    const size_t bytes = BytesPerCode(bits_);
    for (Index column = 0; column < block.cols(); ++column) {
      const size_t row = static_cast<size_t>(column) * bytes;
      for (size_t byte = 0; byte < bytes; ++byte) {
        const unsigned now = part.codes[row + byte];
        for (unsigned changed = now ^ old[row + byte]; changed != 0; changed &= changed - 1) {
          const int bit = std::countr_zero(changed);
          part.change.col(static_cast<Index>(8 * byte) + bit) +=
              (now >> bit & 1U) != 0 ? 2.0F * block.col(column) : -2.0F * block.col(column);
        }
      }
    }
  }

  const MatrixF& projected_;
  int bits_;
  const RunContext& context_;
  std::vector<uint8_t> rows_;  // B, packed
  bool first_ = true;          // B is not known yet
  MatrixD products_;           // V·Bᵀ
  MatrixF rotation_;           // R, bits × components
  double squares_ = 0;         // ‖V‖²
};

}  // namespace

void ItqOptions::Validate() const {
  RequireBits(bits);
  if (iterations < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("iterations of ITQ: expected 1 or more, got {}", iterations));
  }
  if (memory < 1) throw Error(ErrorCode::kInvalidArgument, "memory of ITQ: expected 1 or more");
}

MatrixF FindItqRotation(const ItqOptions& options, const ItqProjection& project, Index rows,
                        const ColumnSource& source, const RunContext& context,
                        TrainingSummary& summary) {
  options.Validate();
  const MatrixF projected = ProjectSamples(project, rows, source, options.memory, context);
  Rotation rotation(projected, options.bits, context);
  Progress progress =
      context.StartProgress("ITQ", "iterations", static_cast<uint64_t>(options.iterations));
  for (int i = 0; i < options.iterations && !summary.converged; ++i) {
    try {
      summary.iterations.push_back(rotation.Iterate());
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCancelled || i == 0) throw;
      summary.interrupted = true;
      break;
    }
    progress.Advance();
    summary.converged = summary.iterations.back().flipped == 0;
  }
  return rotation.rotation();
}

LinearMap FindItqEncoder(const ItqOptions& options, const ColumnSource& source,
                         const Moments& moments, const RunContext& context,
                         TrainingSummary& summary) {
  options.Validate();
  RequireTrainable(moments);
  const Pca pca = ComputePca(moments, std::min<Index>(options.bits, moments.dimension()));
  const MatrixF rotation = FindItqRotation(
      options, [&](const MatrixFRef& block) { return pca.Project(block); }, pca.components(),
      source, context, summary);
  LinearMap map;
  map.weights = rotation * pca.basis.transpose();
  map.bias = (-(map.weights.cast<double>() * moments.mean())).cast<float>();
  return map;
}

Trained<HashModel> TrainItq(const ItqOptions& options, const ColumnSource& source,
                            const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  const Moments moments = ComputeMoments(source, context);
  TrainingSummary summary{.samples = source.size()};
  auto encoder =
      std::make_shared<LinearEncoder>(FindItqEncoder(options, source, moments, context, summary));
  LinearMap decoder = FitDecoder(*encoder, source, context.WithoutStop());
  summary.seconds = watch.seconds();
  return {.model = {.method = "itq", .encoder = std::move(encoder), .decoder = std::move(decoder)},
          .summary = std::move(summary)};
}

}  // namespace bitpool
