#include "bitpool/linalg/kept_columns.h"

#include <utility>

namespace bitpool {
namespace {

constexpr size_t kKeptColumns = 1024;

class KeptColumns : public ColumnSource {
 public:
  explicit KeptColumns(MatrixF columns) : columns_(std::move(columns)), view_(columns_) {}
  Index dimension() const override { return view_.dimension(); }
  Index size() const override { return view_.size(); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override {
    return view_.Read(first, count, buffer);
  }

  const MatrixF columns_;
  const MatrixColumns view_;
};

MatrixF ReadAll(const ColumnSource& source, const RunContext& context) {
  const auto count = static_cast<size_t>(source.size());
  MatrixF columns(source.dimension(), source.size());
  Progress progress = context.StartProgress("computing", "vectors", count);
  context.ParallelFor(count, kKeptColumns, [&](size_t begin, size_t end) {
    MatrixF buffer;
    const auto first = static_cast<Index>(begin);
    const auto size = static_cast<Index>(end - begin);
    columns.middleCols(first, size) = source.Read(first, size, buffer);
    progress.Advance(end - begin);
  });
  return columns;
}

}  // namespace

std::unique_ptr<const ColumnSource> KeepIfSmall(std::unique_ptr<const ColumnSource> source,
                                                size_t memory, const RunContext& context) {
  const double bytes = static_cast<double>(source->dimension()) *
                       static_cast<double>(source->size()) * sizeof(float);
  if (bytes > static_cast<double>(memory)) return source;
  return std::make_unique<KeptColumns>(ReadAll(*source, context));
}

}  // namespace bitpool
