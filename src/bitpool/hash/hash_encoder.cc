#include "bitpool/hash/hash_encoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

// Columns encoded at once by a thread: few enough to stay in its cache.
constexpr size_t kChunkColumns = 512;

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
  const auto count = static_cast<size_t>(source.size());
  const size_t bytes = BytesPerCode(encoder.bits());
  std::vector<uint8_t> rows(count * bytes);
  Progress progress = context.StartProgress("encoding", "vectors", count);
  context.ParallelFor(count, kChunkColumns, [&](size_t begin, size_t end) {
    thread_local MatrixF buffer;
    const auto first = static_cast<Index>(begin);
    const ColumnsView block = source.Read(first, static_cast<Index>(end - begin), buffer);
    RequireFinite(block, first);
    const BinaryCodes codes = encoder.Encode(block);
    std::ranges::copy(codes.rows(), rows.begin() + static_cast<ptrdiff_t>(begin * bytes));
    progress.Advance(end - begin);
  });
  return {encoder.bits(), std::move(rows)};
}

}  // namespace bitpool
