#pragma once

#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/top_scores.h"
#include "bitpool/dataset/public_sets.h"
#include "bitpool/features/sift_extractor.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/report/experiment_result.h"
#include "bitpool/report/report.h"

namespace bitpool {

struct ShowcaseOptions {
  int bits = 32;
  // Made for pictures of 28 × 28 pixels: 6 × 6 descriptors of 12 × 12 pixels each.
  DenseSiftOptions sift = {.step = 3, .bin_sizes = {3}};
  double mu = PoolingRecipe().mu;  // of generalised max pooling
  Index queries = 0;               // test pictures that search; 0: all
  Index shown = 8;                 // queries whose results are shown
  Index results = 10;              // of each

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// What SAH found for a query that is shown.
struct ShownQuery {
  Index query = 0;
  std::vector<ScoredNeighbour> results;
};

struct ShowcaseResult {  // NOLINT(bugprone-exception-escape): as Experiment
  Experiment experiment;
  std::vector<ShownQuery> shown;
};

// The whole way from pictures to answers on a public set: dense RootSIFT of all pictures, their
// aggregation and codes by SAH, an index of the training part, and the test part as queries; beside
// it ITQ on mean and on generalised max pooling, RBA, and SASH, which learns from the labels.
// Metrics: "mAP" over all results and "precision_at_100", in percent, for pictures of the same
// class, both also asymmetric; "training_seconds", with the pooling it needs; "search_seconds" for
// the 100 best of all queries, which are real numbers.
ShowcaseResult RunShowcase(const ShowcaseOptions& options, const std::string& set,
                           const PublicPictures& pictures, const RunContext& context);

// All figures in one table, a row per method.
ReportTable ShowcaseTable(const Experiment& experiment);

// The report as a page, with pictures.
std::string ShowcaseReport(const ShowcaseResult& result, const PublicPictures& pictures);

}  // namespace bitpool
