#pragma once

#include <string_view>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_encoder.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/ridge.h"

namespace bitpool {

// k_j(x) = exp(−‖x − a_j‖² / (2σ²)) of anchors a_j: the features on which kernel methods learn
// linear functions.
class AnchorKernel {
 public:
  // An anchor per column; `width` is σ, which is kept in single precision, as it is stored. Throws
  // kInvalidArgument for no anchors, numbers that are not finite, and a width that is not above 0
  // or so small that ‖a‖² / σ² is not finite.
  AnchorKernel(MatrixF anchors, double width);

  Index dimension() const { return anchors_.rows(); }  // of x
  Index size() const { return anchors_.cols(); }       // of k
  const MatrixF& anchors() const { return anchors_; }
  float width() const { return width_; }

  // k of every column, size() × n, by one matrix product; NaN for a column that is not finite.
  // REQUIRES: block.rows() == dimension()
  MatrixF Columns(const MatrixFRef& block) const;

 private:
  MatrixF anchors_;
  float width_;
  // ‖x − a‖² as ‖x‖² − 2aᵀx + ‖a‖² loses its digits when x and a are far from zero and near each
  // other; the products are made of vectors relative to the middle of the anchors instead.
  VectorF middle_;
  MatrixF scaled_;        // (a − middle) / σ²
  VectorF half_squares_;  // ‖a − middle‖² / (2σ²)
};

struct KernelOptions {
  int anchors = 300;  // random samples; all of them when there are fewer
  double width = 0;   // σ; 0: σ² is the mean of ‖x − a‖² over all samples x and anchors a

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// A kernel on random samples as anchors, in the order of the source.
//
// The width that is found from the data is that of the authors of KSH (Liu, Wang, Ji, Jiang and
// Chang, CVPR 2012), whose program divides the squared distances by twice their mean. The demo of
// SDH (Shen, Shen, Liu and Tao Shen, CVPR 2015) has a fixed σ of 0.4 for vectors of length one
// instead, which has no meaning at another scale; the rule of KSH does not depend on the scale.
//
// Reads the source once when the width is to be found. Throws kInvalidArgument without samples, for
// samples that are all alike, and for values that are not finite.
AnchorKernel DrawKernel(const KernelOptions& options, const ColumnSource& source, Random random,
                        const RunContext& context);

// h = W k(x) + c
class KernelEncoder : public HashEncoder {
 public:
  // W is bits × anchors. Throws kInvalidArgument for sizes that do not agree, numbers that are not
  // finite and a width that is not above 0.
  KernelEncoder(MatrixF anchors, double width, LinearMap map);
  KernelEncoder(AnchorKernel kernel, LinearMap map);

  Index dimension() const override { return kernel_.dimension(); }
  int bits() const override { return static_cast<int>(map_.weights.rows()); }
  std::string_view kind() const override { return "kernel"; }
  std::vector<NamedMatrix> Parameters() const override;

  const AnchorKernel& kernel() const { return kernel_; }
  const LinearMap& map() const { return map_; }

 private:
  MatrixF ProjectColumns(const MatrixFRef& block) const override;

  AnchorKernel kernel_;
  LinearMap map_;
};

}  // namespace bitpool
