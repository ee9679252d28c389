#include "bitpool/hash/kernel_columns.h"

#include "bitpool/linalg/kept_columns.h"

namespace bitpool {
namespace {

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

}  // namespace

std::unique_ptr<const ColumnSource> MakeKernelColumns(const AnchorKernel& kernel,
                                                      const ColumnSource& source, size_t memory,
                                                      const RunContext& context) {
  return KeepIfSmall(std::make_unique<LazyColumns>(kernel, source), memory, context);
}

}  // namespace bitpool
