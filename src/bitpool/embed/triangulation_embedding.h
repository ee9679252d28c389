#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/kmeans.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

struct TriangulationOptions {
  // |C|: the number of k-means centroids that descriptors are seen from. 9 with SIFT gives 9 × 128
  // − 128 = 1024 dimensions, as in the paper.
  Index anchors = 9;
  // Components of largest variance to leave out, which say where all descriptors are, not which one
  // this is; unset: the dimension of the descriptors, as the authors of the embedding do.
  std::optional<Index> dropped = {};
  double power = 1;                // in (0, 1]: components become sign(z)|z|^power; 1: as they are
  bool normalise = false;          // unit length at the end. Off: pooling normalises anyway
  int kmeans_iterations = 25;      // passes over the sample that look for the anchors, at most
  double kmeans_tolerance = 1e-4;  // stop when their objective falls by less than this share

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

struct TriangulationSummary {
  Index samples = 0;
  Index input_dimension = 0;
  Index dimension = 0;
  Index flat = 0;         // kept components along which the sample does not vary; embedded as 0
  double dropped = 0;     // share of the variance that lies in the components left out
  KMeansSummary anchors;  // how the anchors were found
  double seconds = 0;

  std::string BriefReport() const;
};

// What the embedding consists of; R(x) and the names are those of TriangulationEmbedding.
struct TriangulationParts {
  MatrixF anchors;         // d × |C|, one per column
  VectorF mean;            // of R(x) over the sample, d|C|
  MatrixF projection;      // D × d|C|, applied to R(x) − mean
  double power = 1;        // as in the options
  bool normalise = false;  // as in the options
};

// Triangulation embedding (Jégou and Zisserman, "Triangulation embedding and democratic aggregation
// for image search", CVPR 2014, section 3). A descriptor x of d dimensions is described by the
// directions in which the anchors c₁ … c_|C| see it,
//   R(x) = [r₁(x); …; r_|C|(x)],  r_j(x) = (x − c_j) / ‖x − c_j‖  (0 where x is the anchor),
// and these are centred and whitened without the components of largest variance,
//   φ(x) = diag(λ)^(−1/2) Pᵀ (R(x) − mean).
// Never changes and may be used from many threads.
class TriangulationEmbedding {
 public:
  using Summary = TriangulationSummary;
  using NamedMatrices = std::vector<std::pair<std::string, MatrixF>>;

  // Of the arrays that the embedding is stored as.
  static constexpr std::array kParameterNames = {"embedding_anchors", "embedding_mean",
                                                 "embedding_projection", "embedding_finish"};

  // Throws kInvalidArgument for sizes that do not agree and numbers that are not finite.
  explicit TriangulationEmbedding(TriangulationParts parts);

  // From what Parameters() gave. Throws kInvalidArgument also when one is missing.
  static TriangulationEmbedding FromParameters(const NamedMatrices& parameters);
  // The parts, by the names above; the last holds the power and 1 when columns are normalised.
  NamedMatrices Parameters() const;

  Index input_dimension() const { return parts_.anchors.rows(); }
  Index dimension() const { return parts_.projection.rows(); }
  const TriangulationParts& parts() const { return parts_; }

  // φ of every column, D × n. Throws kInvalidArgument for another dimension and, naming the column,
  // for values that are not finite. Target: at most 2.5 times the time of the bare matrix product
  // (benchmarks/embed_benchmark.cc).
  MatrixF Apply(const MatrixFRef& descriptors) const;

 private:
  void Finish(Eigen::Ref<MatrixF> embedded) const;

  TriangulationParts parts_;
};

// Learns anchors, mean and whitening from a sample of descriptors, which is read once for each
// iteration of k-means and once for the whitening. Along a component that does not vary in the
// sample (variance below 10⁻⁸ of the largest, or more components than samples) the embedding is 0
// instead of amplified noise; see summary.flat.
// Throws kInvalidArgument for fewer descriptors than anchors, for more components to drop than
// there are, and for values that are not finite.
Trained<TriangulationEmbedding> TrainTriangulation(const TriangulationOptions& options,
                                                   const ColumnSource& sample,
                                                   const RunContext& context);

}  // namespace bitpool
