#pragma once

#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/base/random.h"
#include "bitpool/linalg/column_source.h"

namespace bitpool {

// Random columns of a source, in the order of the source, for methods that keep something of every
// sample they train on.
class ColumnSample : public ColumnSource {
 public:
  // `count` different columns, or all of them when there are no more. The source must outlive this.
  ColumnSample(const ColumnSource& source, Index count, Random random);

  Index dimension() const override { return source_.dimension(); }
  Index size() const override { return size_; }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override;

  const ColumnSource& source_;
  Index size_;
  std::vector<Index> chosen_;  // ascending; empty: all
};

// How many samples a method trains on when asked for `wanted` of them (0: all) and keeping this
// many bytes of each: no more than `available`, and no more than fit into 512 MiB.
Index SamplesInMemory(Index wanted, Index available, Index bytes_per_sample);

}  // namespace bitpool
