#include "bitpool/pool/simple_pooling.h"

#include <fmt/format.h>

#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/reductions.h"
#include "bitpool/pool/column_products.h"

namespace bitpool {

void RequireDescriptors(const MatrixFRef& descriptors) {
  if (descriptors.cols() > 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              "no descriptors: pooling needs at least one local descriptor of the image");
}

VectorF SumPooling(const MatrixFRef& descriptors) {
  RequireDescriptors(descriptors);
  VectorF sum = SumColumns(descriptors);
  // A value that is not finite makes the sum so: looking for its place can wait until then.
  if (!sum.allFinite()) {
    RequireFinite(descriptors, 0);
    throw Error(ErrorCode::kInvalidArgument, "descriptors: the values are too large to be added");
  }
  return sum;
}

VectorF MeanPooling(const MatrixFRef& descriptors) {
  return SumPooling(descriptors) / static_cast<float>(descriptors.cols());
}

VectorF MaxPooling(const MatrixFRef& descriptors) {
  RequireDescriptors(descriptors);
  RequireFinite(descriptors, 0);
  Index row = 0;
  Index column = 0;
  if (descriptors.size() > 0 && descriptors.minCoeff(&row, &column) < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("column {}, row {}: max pooling is for features that are not negative, "
                            "got {}; use sum, mean or generalised max pooling",
                            column, row, descriptors(row, column)));
  }
  return descriptors.rowwise().maxCoeff();
}

void NormaliseColumns(MatrixF& descriptors) {
  for (Index column = 0; column < descriptors.cols(); ++column) {
    const float* values = descriptors.col(column).data();
    const double squared = Dot(values, values, descriptors.rows());
    if (!std::isfinite(squared)) RequireFinite(descriptors.col(column), column);
    if (squared == 0) continue;
    // In double precision: the factor of a very short column does not fit into single.
    const double factor = 1 / std::sqrt(squared);
    descriptors.col(column) = (factor * descriptors.col(column).cast<double>()).cast<float>();
  }
}

}  // namespace bitpool
