#pragma once

#include <string>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

struct PcaOptions {
  Index components = 64;  // directions to keep, at most the dimension of the data

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

struct PcaSummary {
  Index samples = 0;
  Index components = 0;
  double explained = 1;  // share of the total variance that lies in the components
  double seconds = 0;

  std::string BriefReport() const;
};

// Principal components: the directions of largest variance.
struct Pca {
  using Summary = PcaSummary;

  VectorF mean;
  MatrixF basis;              // D×components, orthonormal columns; the largest entry of each, the
                              // first of several, is positive
  VectorF variances;          // along the basis, descending, not negative
  double total_variance = 0;  // over all D directions

  Index dimension() const { return basis.rows(); }
  Index components() const { return basis.cols(); }

  // basisᵀ (x − mean) of every column.
  MatrixF Project(const MatrixFRef& block) const;
};

// Throws kInvalidArgument without samples, or for components that are not in [1, dimension]. Where
// the data does not vary (constant data, or fewer samples than dimensions) the basis is completed
// by arbitrary orthonormal directions, of variance zero.
Pca ComputePca(const Moments& moments, Index components);

// The same from the data, in one pass.
Trained<Pca> TrainPca(const PcaOptions& options, const ColumnSource& source,
                      const RunContext& context);

}  // namespace bitpool
