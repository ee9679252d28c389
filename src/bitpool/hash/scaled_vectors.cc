#include "bitpool/hash/scaled_vectors.h"

namespace bitpool {
namespace {

constexpr size_t kScaledPerTask = 64;

}  // namespace

ScaledVectors::ScaledVectors(const ColumnSource& source, const ViewScale& scale, size_t memory)
    : source_(source),
      mean_(scale.mean.cast<float>()),
      factor_(static_cast<float>(1 / scale.unit)) {
  const size_t bytes = sizeof(float) * static_cast<size_t>(source.dimension());
  if (static_cast<size_t>(source.size()) <= memory / bytes) {
    all_.emplace(source.Read(0, source.size(), kept_));
  }
}

MatrixF ScaledVectors::Read(std::span<const Index> columns, const RunContext& context) const {
  MatrixF batch(source_.dimension(), static_cast<Index>(columns.size()));
  context.ParallelFor(columns.size(), kScaledPerTask, [&](size_t begin, size_t end) {
    MatrixF buffer;
    for (size_t i = begin; i < end; ++i) {
      auto column = batch.col(static_cast<Index>(i));
      if (all_) {
        column = all_->col(columns[i]);
      } else {
        column = source_.Read(columns[i], 1, buffer).col(0);
      }
      column = factor_ * (column - mean_);
    }
  });
  return batch;
}

}  // namespace bitpool
