#pragma once

#include <filesystem>

#include "bitpool/base/run_context.h"
#include "bitpool/experiments/joint_experiment.h"
#include "bitpool/experiments/supervised_experiment.h"
#include "bitpool/io/env.h"
#include "bitpool/report/experiment_result.h"

namespace bitpool {

struct ClassRetrievalOptions {
  JointOptions joint = {};
  // The set's training part is learned from and searched, and the queries are images of its test
  // part; off: the queries are images of every class, and all others are learned from and searched.
  bool own_parts = true;
  Index queries = 1000;           // own parts: images that search, drawn at random
  Index queries_per_class = 100;  // otherwise
  Index top = 0;                  // only this many results count; 0: all
  bool normalise = true;          // local features to unit length first
  // Constants of SAH and RBA that are not given are chosen by `Tune` on the training images,
  // without labels, with codes of `tune_bits`; the methods that only pool take μ from those of RBA.
  bool tune = false;
  int tune_bits = 32;
  uint64_t memory = uint64_t{4} << 30;  // for records of images
  std::filesystem::path scratch;        // beyond that, in files whose names begin with this

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// SAH and hashing of generalised max pooling where an image of the same class is a right answer
// (the paper's comparisons on CIFAR-10). Nothing learns from labels. The metrics are those of
// RunJointExperiment.
Experiment RunClassRetrieval(Env& env, const ClassRetrievalOptions& options,
                             const LabelledImages& images, const RunContext& context);

}  // namespace bitpool
