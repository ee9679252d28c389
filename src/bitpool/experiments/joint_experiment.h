#pragma once

#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/experiments/comparison.h"
#include "bitpool/hash/image_record.h"
#include "bitpool/metrics/protocol.h"
#include "bitpool/report/experiment_result.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/ground_truth.h"

namespace bitpool {

struct JointOptions : Comparison {
  JointOptions()
      : Comparison{.bits = {8, 16, 24, 32}, .methods = {"sah", "rba", "ba", "itq", "kmh", "sph"}} {}

  // μ of generalised max pooling, for the methods that have none among their constants.
  double mu = PoolingRecipe().mu;
  // This many queries have their results, `shown_results` each, kept with the figures of the first
  // seed and the longest codes. For tasks whose images have names.
  Index shown = 0;
  Index shown_results = 8;
  bool ours = true;  // where there are views, our own methods join: whitened ITQ and SAV

  // The methods that only hash take μ from the constants of RBA, if it has one.
  void TakeMuOfRba();

  // Adds our own methods, if they are wanted and not yet there.
  void AddOurs();

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Images that were reduced to records, and the search that is measured with them.
struct JointTask {
  const RecordStore& training;
  const RecordStore& database;
  const RecordStore* queries = nullptr;  // null: the queries are images of the database,
  std::vector<Index> query_images = {};  // these
  const GroundTruth& truth;
  Protocol protocol;
  bool normalise = true;  // how the records were made
  // Training pictures with their views, for the methods that learn from them; null: there are none.
  const FeatureSet* views = nullptr;
  // The images of the records, for models that weigh descriptors, which records do not have.
  const FeatureSet* database_images = nullptr;
  const FeatureSet* query_set = nullptr;
  std::vector<std::string> names = {};        // of the database's images, to be shown by
  std::vector<std::string> query_names = {};  // of the queries
};

// Aggregating and hashing learned together (SAH) against methods that hash the vectors of
// generalised max pooling, all from the same images. Metrics: "mAP" and
// "asymmetric_mAP" in percent; "reconstruction_error", the mean squared error of the database's
// vectors decoded from their codes (for SAH, of the vectors its own pooling makes), as in the
// paper; "relative_reconstruction_error", the same as a share of the variance of those vectors;
// "training_seconds".
Experiment RunJointExperiment(const JointOptions& options, const JointTask& task,
                              const RunContext& context);

// Which of the methods are ours and not the paper's, in a line.
std::string OursAreApart();

// The report as a page.
std::string JointReport(const Experiment& experiment);

}  // namespace bitpool
