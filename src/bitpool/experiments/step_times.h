#pragma once

#include <filesystem>

#include "bitpool/base/run_context.h"
#include "bitpool/experiments/run_figures.h"
#include "bitpool/hash/sah.h"
#include "bitpool/io/env.h"
#include "bitpool/pictures/picture_describer.h"
#include "bitpool/report/experiment_result.h"

namespace bitpool {

struct StepTimeOptions {
  int pictures = 40;  // the first of a folder
  int bits = 32;
  double mu = SahOptions::Paper(bits).mu;
  int rounds = 5;                  // how many times each step is measured
  FigureStore* figures = nullptr;  // gets the single rounds, numbered as seeds

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// The paper's tab:computation_time, on one thread: milliseconds for each picture. Metrics:
// "extract_ms" (the features of a decoded picture; a round measures its share of the pictures),
// "pool_ms" and "encode_ms" (the code of a vector), of the methods "sah" (whose pooling is coupled
// with its hash functions, which are learned from the same pictures) and "others" (generalised max
// pooling).
Experiment MeasureStepTimes(Env& env, const StepTimeOptions& options,
                            const PictureDescriber& describer, const std::filesystem::path& folder,
                            const RunContext& context);

}  // namespace bitpool
