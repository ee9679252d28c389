#include "bitpool/hash/hash_encoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

// OpenBLAS chooses its kernels by the sizes of a product, and they differ in the last digits. So
// columns are projected this many at a time, always. Such products are as fast as larger ones, and
// a vector alone still takes less than a millisecond.
constexpr Index kProjectedTogether = 48;
static_assert(kEncodingGroup % kProjectedTogether == 0);

// Columns that a sink gets at once: whole groups, and enough of them for all threads.
constexpr Index kColumnsAtOnce = 32 * kEncodingGroup;

// Vectors and weights that are finite may still be too large for single precision together.
void RequireProjected(const MatrixF& projected, Index first) {
  if (projected.allFinite()) return;
  Index column = 0;
  while (projected.col(column).allFinite()) ++column;
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "column {}: its projection is not finite, its numbers are too large for this model",
          first + column));
}

EncodedVectors CodesWith(MatrixF projections) {
  BinaryCodes codes = BinaryCodes::FromSigns(projections);
  return {.codes = std::move(codes), .projections = std::move(projections)};
}

// Calls take(first, columns) for the groups from column `begin` on, in parallel.
template <class Take>
void ForEachGroup(const ColumnSource& source, Index begin, Index count, const RunContext& context,
                  Progress& progress, const Take& take) {
  context.ParallelFor(
      static_cast<size_t>(count), static_cast<size_t>(kEncodingGroup), [&](size_t from, size_t to) {
        thread_local MatrixF buffer;
        const Index first = begin + static_cast<Index>(from);
        const ColumnsView block = source.Read(first, static_cast<Index>(to - from), buffer);
        RequireFinite(block, first);
        take(first, block);
        progress.Advance(to - from);
      });
}

EncodedVectors EncodeColumns(const HashEncoder& encoder, const ColumnSource& source, Index begin,
                             Index count, const RunContext& context, Progress& progress) {
  MatrixF projections(encoder.bits(), count);
  ForEachGroup(source, begin, count, context, progress, [&](Index first, const ColumnsView& block) {
    const MatrixF projected = encoder.Project(block);
    RequireProjected(projected, first);
    projections.middleCols(first - begin, block.cols()) = projected;
  });
  return CodesWith(std::move(projections));
}

}  // namespace

MatrixF HashEncoder::Project(const MatrixFRef& block) const {
  if (block.rows() != dimension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("vectors of dimension {}; the encoder was trained for dimension {}",
                            block.rows(), dimension()));
  }
  MatrixF projected(bits(), block.cols());
  Index first = 0;
  for (; first + kProjectedTogether <= block.cols(); first += kProjectedTogether) {
    projected.middleCols(first, kProjectedTogether) =
        ProjectColumns(block.middleCols(first, kProjectedTogether));
  }
  const Index rest = block.cols() - first;
  if (rest == 0) return projected;
  MatrixF padded = MatrixF::Zero(dimension(), kProjectedTogether);
  padded.leftCols(rest) = block.rightCols(rest);
  projected.rightCols(rest) = ProjectColumns(padded).leftCols(rest);
  return projected;
}

BinaryCodes HashEncoder::Encode(const MatrixFRef& block) const { return EncodeBlock(block).codes; }

EncodedVectors HashEncoder::EncodeBlock(const MatrixFRef& block) const {
  MatrixF projections = Project(block);
  RequireProjected(projections, 0);
  return CodesWith(std::move(projections));
}

LinearEncoder::LinearEncoder(LinearMap map) : map_(std::move(map)) {
  if (map_.weights.rows() != map_.bias.size() || map_.weights.cols() < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("an encoder of {} × {} weights and {} biases: sizes do not agree",
                            map_.weights.rows(), map_.weights.cols(), map_.bias.size()));
  }
  RequireBits(static_cast<int>(map_.weights.rows()));
  if (!map_.weights.allFinite() || !map_.bias.allFinite()) {
    throw Error(ErrorCode::kInvalidArgument, "an encoder with numbers that are not finite");
  }
}

std::vector<NamedMatrix> LinearEncoder::Parameters() const {
  return {{"encoder_weights", map_.weights}, {"encoder_bias", map_.bias}};
}

MatrixF LinearEncoder::ProjectColumns(const MatrixFRef& block) const {
  MatrixF projected(map_.weights.rows(), block.cols());
  projected.noalias() = map_.weights * block;
  projected.colwise() += map_.bias;
  return projected;
}

BinaryCodes EncodeAll(const HashEncoder& encoder, const ColumnSource& source,
                      const RunContext& context) {
  const size_t bytes = BytesPerCode(encoder.bits());
  std::vector<uint8_t> rows(static_cast<size_t>(source.size()) * bytes);
  Progress progress =
      context.StartProgress("encoding", "vectors", static_cast<uint64_t>(source.size()));
  ForEachGroup(source, 0, source.size(), context, progress,
               [&](Index first, const ColumnsView& block) {
                 const MatrixF projected = encoder.Project(block);
                 RequireProjected(projected, first);
                 std::ranges::copy(
                     BinaryCodes::FromSigns(projected).rows(),
                     rows.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(first) * bytes));
               });
  return {encoder.bits(), std::move(rows)};
}

EncodedVectors EncodeBatch(const HashEncoder& encoder, const ColumnSource& source,
                           const RunContext& context) {
  Progress progress =
      context.StartProgress("encoding", "vectors", static_cast<uint64_t>(source.size()));
  return EncodeColumns(encoder, source, 0, source.size(), context, progress);
}

void EncodeBatch(const HashEncoder& encoder, const ColumnSource& source, const RunContext& context,
                 const EncodedSink& sink) {
  Progress progress =
      context.StartProgress("encoding", "vectors", static_cast<uint64_t>(source.size()));
  for (Index first = 0; first < source.size(); first += kColumnsAtOnce) {
    const Index count = std::min(kColumnsAtOnce, source.size() - first);
    sink(first, EncodeColumns(encoder, source, first, count, context, progress));
  }
}

}  // namespace bitpool
