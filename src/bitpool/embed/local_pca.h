#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"

namespace bitpool {

// Local features of fewer dimensions: brought to unit length, projected to the directions in which
// they differ most, and brought to unit length again. What a deep layer of a network says with a
// thousand maps or more fits into half of them, and pooling costs the square of the number.
// Never changes and may be used from many threads.
class LocalPca {
 public:
  using NamedMatrices = std::vector<std::pair<std::string, MatrixF>>;

  // Of the arrays it is stored as.
  static constexpr std::array kParameterNames = {"local_pca_mean", "local_pca_basis"};

  // `basis`: a direction per column. Throws kInvalidArgument for sizes that do not agree and
  // numbers that are not finite.
  LocalPca(VectorF mean, MatrixF basis);

  // From what Parameters() gave. Throws kInvalidArgument also when one is missing.
  static LocalPca FromParameters(const NamedMatrices& parameters);
  NamedMatrices Parameters() const;

  Index input_dimension() const { return basis_.rows(); }
  Index dimension() const { return basis_.cols(); }

  // Throws kInvalidArgument for features of another dimension.
  MatrixF Apply(const MatrixFRef& features) const;

 private:
  VectorF mean_;
  MatrixF basis_;
};

// Learns it from a sample of features, as they come. Throws kInvalidArgument when there are none,
// and for a dimension that is not in [1, that of the features].
LocalPca TrainLocalPca(const MatrixF& sample, Index dimension, const RunContext& context);

}  // namespace bitpool
