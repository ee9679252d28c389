#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "bitpool/base/run_context.h"
#include "bitpool/experiments/joint_experiment.h"
#include "bitpool/io/env.h"
#include "bitpool/report/experiment_result.h"

namespace bitpool {

// Images of a user's files, and where the right answers are.
struct JointFiles {
  std::filesystem::path training;  // local features to learn from (.bpf), perhaps with views
  std::filesystem::path database;  // those that are searched; views of them are left out
  std::filesystem::path queries;   // those that search; empty with `holidays`
  // One of three: the names of the database tell queries and answers, as those of INRIA Holidays
  // do;
  bool holidays = false;
  std::filesystem::path truth;                 // a row of right answers per query;
  std::filesystem::path labels, query_labels;  // images of the same class are right
  Index top = 0;                               // only this many results count; 0: all
  bool normalise = true;                       // local features to unit length first
  uint64_t memory = uint64_t{4} << 30;         // for records of images
  std::filesystem::path scratch;               // beyond that, in files whose names begin with this
};

// RunJointExperiment on files. Training images without descriptors are named by `say` and left out.
// Errors about the content of a file name it.
Experiment RunJointOnFiles(Env& env, const JointOptions& options, const JointFiles& files,
                           const RunContext& context,
                           const std::function<void(const std::string&)>& say);

}  // namespace bitpool
