#pragma once

#include "bitpool/io/sample_file.h"
#include "bitpool/linalg/column_source.h"

namespace bitpool {

// The vectors of a file as columns, for trainers: read in blocks, so that the file may be larger
// than memory.
class VectorFile : public ColumnSource {
 public:
  explicit VectorFile(SampleFile file) : file_(std::move(file)) {}

  Index dimension() const override { return static_cast<Index>(file_.dimension()); }
  Index size() const override { return static_cast<Index>(file_.count()); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override;

  SampleFile file_;
};

}  // namespace bitpool
