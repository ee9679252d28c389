#include "bitpool/embed/local_pca.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/pca.h"

namespace bitpool {
namespace {

// A feature of length zero stays as it is.
void ToUnitLength(MatrixF& columns) {
  for (Index i = 0; i < columns.cols(); ++i) {
    const float length = columns.col(i).norm();
    if (length > 0) columns.col(i) /= length;
  }
}

const MatrixF& Find(const LocalPca::NamedMatrices& parameters, const char* name) {
  for (const auto& [known, matrix] : parameters) {
    if (known == name) return matrix;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("a local PCA without its part \"{}\"", name));
}

}  // namespace

LocalPca::LocalPca(VectorF mean, MatrixF basis) : mean_(std::move(mean)), basis_(std::move(basis)) {
  if (mean_.size() != basis_.rows() || basis_.cols() < 1 || basis_.cols() > basis_.rows()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a local PCA with a mean of {} numbers and a basis of {}×{}",
                            mean_.size(), basis_.rows(), basis_.cols()));
  }
  if (!mean_.allFinite() || !basis_.allFinite()) {
    throw Error(ErrorCode::kInvalidArgument, "a local PCA with numbers that are not finite");
  }
}

LocalPca LocalPca::FromParameters(const NamedMatrices& parameters) {
  const MatrixF& mean = Find(parameters, kParameterNames[0]);
  if (mean.cols() != 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the mean of a local PCA: expected one column, got {}", mean.cols()));
  }
  return {mean.col(0), Find(parameters, kParameterNames[1])};
}

LocalPca::NamedMatrices LocalPca::Parameters() const {
  return {{kParameterNames[0], mean_}, {kParameterNames[1], basis_}};
}

MatrixF LocalPca::Apply(const MatrixFRef& features) const {
  if (features.rows() != input_dimension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("features of dimension {}; the local PCA was learned for {}",
                            features.rows(), input_dimension()));
  }
  MatrixF unit = features;
  ToUnitLength(unit);
  unit.colwise() -= mean_;
  MatrixF reduced = basis_.transpose() * unit;
  ToUnitLength(reduced);
  return reduced;
}

LocalPca TrainLocalPca(const MatrixF& sample, Index dimension, const RunContext& context) {
  MatrixF unit = sample;
  ToUnitLength(unit);
  Pca pca = TrainPca({.components = dimension}, MatrixColumns(unit), context).model;
  return {std::move(pca.mean), std::move(pca.basis)};
}

}  // namespace bitpool
