#pragma once

#include <optional>
#include <span>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/view_scale.h"
#include "bitpool/linalg/column_source.h"

namespace bitpool {

// Vectors with their mean removed and in a scale of their own, batch by batch, as maps that are
// learned by gradients get them. All vectors are kept where the memory allows it; otherwise those
// of a batch are read.
class ScaledVectors {
 public:
  // The source must outlive this. `memory` is in bytes.
  ScaledVectors(const ColumnSource& source, const ViewScale& scale, size_t memory);
  ScaledVectors(const ScaledVectors&) = delete;  // all_ may view kept_
  ScaledVectors& operator=(const ScaledVectors&) = delete;

  // The columns with these numbers, scaled.
  MatrixF Read(std::span<const Index> columns, const RunContext& context) const;

 private:
  const ColumnSource& source_;
  VectorF mean_;
  float factor_;
  MatrixF kept_;
  std::optional<ColumnsView> all_;
};

}  // namespace bitpool
