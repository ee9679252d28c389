#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/shards.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

struct KMeansOptions {
  Index clusters = 64;        // centroids to find, at most the number of samples
  int iterations = 25;        // passes over the data, at most
  double tolerance = 1e-4;    // stop when the objective falls by less than this share of itself
  Index seeding_samples = 0;  // random samples that k-means++ chooses the first centroids from;
                              // 0: 32 for each cluster; never fewer than the clusters

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

struct KMeansIteration {
  double objective = 0;  // mean squared distance to the centroids this iteration started with
  double moved = 1;      // share of the samples that changed their cluster; 1 in the first
  Index empty = 0;       // clusters without samples, given a new centroid where there was one
  double seconds = 0;
};

struct KMeansSummary {
  Index samples = 0;
  Index clusters = 0;
  std::vector<KMeansIteration> iterations;
  bool converged = false;  // the tolerance was reached, or nothing moved
  double seconds = 0;      // seeding included

  std::string BriefReport() const;
};

// The nearest centroid of each column.
struct Assignment {
  std::vector<int32_t> clusters;
  std::vector<float> squared_distances;
};

// Centroids, ready to be searched.
class KMeans {
 public:
  using Summary = KMeansSummary;

  KMeans() = default;
  // Throws kInvalidArgument for no centroids or some that are not finite.
  explicit KMeans(MatrixF centroids);

  const MatrixF& centroids() const { return centroids_; }  // D×k

  // The exactly nearest centroid of each column, the lowest of several at the same distance.
  // Candidates come from one matrix product in single precision; all that its rounding cannot tell
  // apart are compared again in double precision. Throws kInvalidArgument, which names the column
  // (counted from `first`), for values that are not finite or too large to be squared.
  Assignment Assign(const MatrixFRef& block, Index first = 0) const;

 private:
  void AssignPart(const MatrixFRef& part, Index offset, Index first, Assignment& result) const;
  void NearestUnder(float bound, const float* scores, const float* sample, int32_t& cluster,
                    float& squared_distance) const;

  MatrixF centroids_;
  // ‖x − c‖² loses its digits when x and c are far from zero and near each other; products are made
  // of vectors relative to the centre of the centroids instead.
  VectorF centre_;
  MatrixF minus_twice_;    // −2 (centroids − centre)
  VectorF squared_norms_;  // of centroids − centre
  float largest_norm_ = 0;
};

// KMeans(centroids).Assign(block).
Assignment Assign(const MatrixFRef& centroids, const MatrixFRef& block);

// Lloyd's algorithm from k-means++ centroids. Reads the source once for each iteration and keeps 8
// bytes for each sample (16 while a cluster is empty). A cluster that loses all its samples takes
// the sample that is farthest from its own centroid (the first of several). When there are fewer
// different samples than clusters, every different sample gets a centroid and the remaining
// centroids repeat some of them, their clusters empty. Throws kInvalidArgument for fewer samples
// than clusters, and for values that are not finite.
Trained<KMeans> TrainKMeans(const KMeansOptions& options, const ColumnSource& source,
                            const RunContext& context);
// The same for vectors in shards.
Trained<KMeans> TrainKMeans(const KMeansOptions& options, Shards& shards,
                            const RunContext& context);

// An empty pass of k-means by its name, to be read into; null when there is none.
std::unique_ptr<Pass> MakeKMeansPass(std::string_view name);

}  // namespace bitpool
