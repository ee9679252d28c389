#pragma once

#include <optional>
#include <string>

#include "bitpool/base/run_context.h"
#include "bitpool/experiments/comparison.h"
#include "bitpool/experiments/vector_sets.h"
#include "bitpool/report/chart.h"
#include "bitpool/report/experiment_result.h"

namespace bitpool {

struct UnsupervisedOptions : Comparison {
  // All methods that learn from vectors alone.
  UnsupervisedOptions() {
    bits = {8, 16, 24, 32};
    methods = MethodNames(LearnsFromVectorsAlone);
  }

  Index queries = 1000;   // drawn from the test vectors, the same for all runs
  Index neighbours = 50;  // Euclidean neighbours that count as right answers
  Index limit = 0;        // training vectors to use, drawn at random; 0: all
  Index top = 0;          // only this many results count; 0: all
  bool surface = true;    // also measure RBA over a grid of its constants

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

struct UnsupervisedResult {  // NOLINT(bugprone-exception-escape): as Experiment
  Experiment experiment;     // metrics "mAP" and "asymmetric_mAP" (percent),
                             // "training_seconds", "reconstruction_error"
  // mAP of RBA over λ and β, measured on training vectors held out as queries, never on the test
  // queries: it is the surface by which one would choose the constants.
  std::optional<HeatMap> surface;
};

// The comparison of section III: every method is trained on the training vectors, which are also
// the database unless the set has one of its own, and test vectors search for their Euclidean
// neighbours.
UnsupervisedResult RunUnsupervisedExperiment(const UnsupervisedOptions& options,
                                             const VectorSet& set, const RunContext& context);

// The surface alone.
HeatMap MeasureRbaSurface(const UnsupervisedOptions& options, const VectorSet& set,
                          const RunContext& context);

// The report as a page.
std::string UnsupervisedReport(const UnsupervisedResult& result);

}  // namespace bitpool
