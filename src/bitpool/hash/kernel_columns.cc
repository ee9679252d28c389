#include "bitpool/hash/kernel_columns.h"

#include <utility>

namespace bitpool {
namespace {

constexpr size_t kChunkColumns = 1024;

// Made when they are read.
class LazyColumns : public ColumnSource {
 public:
  LazyColumns(const AnchorKernel& kernel, const ColumnSource& source)
      : kernel_(kernel), source_(source) {}
  Index dimension() const override { return kernel_.size(); }
  Index size() const override { return source_.size(); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override {
    MatrixF vectors;
    buffer = kernel_.Columns(source_.Read(first, count, vectors));
    return ViewOf(buffer);
  }

  const AnchorKernel& kernel_;
  const ColumnSource& source_;
};

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
  Progress progress = context.StartProgress("kernel", "vectors", count);
  context.ParallelFor(count, kChunkColumns, [&](size_t begin, size_t end) {
    MatrixF buffer;
    const auto first = static_cast<Index>(begin);
    const auto size = static_cast<Index>(end - begin);
    columns.middleCols(first, size) = source.Read(first, size, buffer);
    progress.Advance(end - begin);
  });
  return columns;
}

bool FitsInMemory(const ColumnSource& source, size_t memory) {
  return static_cast<double>(source.dimension()) * static_cast<double>(source.size()) *
             sizeof(float) <=
         static_cast<double>(memory);
}

}  // namespace

std::unique_ptr<const ColumnSource> MakeKernelColumns(const AnchorKernel& kernel,
                                                      const ColumnSource& source, size_t memory,
                                                      const RunContext& context) {
  auto lazy = std::make_unique<LazyColumns>(kernel, source);
  if (!FitsInMemory(*lazy, memory)) return lazy;
  return std::make_unique<KeptColumns>(ReadAll(*lazy, context));
}

}  // namespace bitpool
