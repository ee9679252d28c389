#pragma once

#include "bitpool/base/matrix.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

// The labels of training samples as vectors, a column per sample with 1 in the rows of its classes
// and 0 elsewhere: what supervised methods fit their codes to. Columns are made when they are read,
// since there may be many classes.
//
// A sample may have several classes, or none: its column is then zero. A class without samples is a
// row of zeros.
class LabelTargets : public ColumnSource {
 public:
  // The labels must outlive this. Throws kInvalidArgument when their number is not `samples`, and
  // when fewer than two different classes occur.
  LabelTargets(const Labels& labels, Index samples);

  Index dimension() const override { return labels_.class_count(); }
  Index size() const override { return labels_.size(); }

  const Labels& labels() const { return labels_; }
  Index occurring_classes() const { return occurring_classes_; }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override;

  const Labels& labels_;
  Index occurring_classes_;
};

}  // namespace bitpool
