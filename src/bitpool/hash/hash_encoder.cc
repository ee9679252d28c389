#include "bitpool/hash/hash_encoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

// Columns that a sink gets at once: whole groups, and enough of them for all threads.
constexpr Index kColumnsAtOnce = 32 * kEncodingGroup;

// Calls take(first, columns) for the groups from column `begin`, a multiple of the size of a group,
// in parallel. A group is few enough columns to stay in a thread's cache.
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
    projections.middleCols(first - begin, block.cols()) = encoder.Project(block);
  });
  BinaryCodes codes = BinaryCodes::FromSigns(projections);
  return {.codes = std::move(codes), .projections = std::move(projections)};
}

}  // namespace

MatrixF HashEncoder::Project(const MatrixFRef& block) const {
  if (block.rows() != dimension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("vectors of dimension {}; the encoder was trained for dimension {}",
                            block.rows(), dimension()));
  }
  return ProjectColumns(block);
}

BinaryCodes HashEncoder::Encode(const MatrixFRef& block) const {
  return BinaryCodes::FromSigns(Project(block));
}

EncodedVectors HashEncoder::EncodeBlock(const MatrixFRef& block) const {
  MatrixF projections = Project(block);
  BinaryCodes codes = BinaryCodes::FromSigns(projections);
  return {.codes = std::move(codes), .projections = std::move(projections)};
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
  ForEachGroup(
      source, 0, source.size(), context, progress, [&](Index first, const ColumnsView& block) {
        const BinaryCodes codes = encoder.Encode(block);
        std::ranges::copy(codes.rows(), rows.begin() + static_cast<ptrdiff_t>(
                                                           static_cast<size_t>(first) * bytes));
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
