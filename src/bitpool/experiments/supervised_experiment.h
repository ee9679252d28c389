#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/experiments/cnn_features.h"
#include "bitpool/experiments/comparison.h"
#include "bitpool/hash/sash.h"
#include "bitpool/io/env.h"
#include "bitpool/report/experiment_result.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/labels.h"
#include "bitpool/samples/retrieval_splits.h"

namespace bitpool {

enum class SupervisedSetting {
  kTraditional,  // queries are of the classes that are learned
  kUnseen,       // queries are of other classes
};

struct SupervisedOptions : Comparison {
  // Methods that need labels, and methods of vectors without labels for comparison. Every seed has
  // its own split.
  SupervisedOptions()
      : Comparison{.bits = {8, 16, 24, 32, 48},
                   .methods = {"sash", "sdh", "ksh", "bre", "cca-itq", "itq"}} {}

  SupervisedSetting setting = SupervisedSetting::kTraditional;
  SplitOptions split = {};
  // μ of generalised max pooling, for the methods that have none among their constants: that of
  // SASH, so that all get the same vectors.
  double mu = SashOptions().joint.mu;
  bool normalise = true;  // local features to unit length first
  // Constants of the methods that learn from labels, where they are not given, are chosen for each
  // split by `tune` on its training images, with codes of `tune_bits`; in the setting of unseen
  // classes by holding out classes.
  bool tune = false;
  int tune_bits = 32;
  uint64_t memory = uint64_t{4} << 30;  // records of the training images are kept in memory up to
                                        // this many bytes
  std::filesystem::path scratch;        // beyond that, in this file

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Images as local features, each with its classes.
struct LabelledImages {
  std::string name;                                   // of the set
  std::string features;                               // what they are, in words
  std::shared_ptr<const FeatureSet> images;           // without views
  std::shared_ptr<const FeatureSet> views = nullptr;  // some of the training part, with their views
  Labels labels;
  Index training_part = 0;  // images of the set's own training part, which come first; 0: it has
                            // no such parts
};

// A public set with both of its parts.
LabelledImages Labelled(const CnnFeatures& features);

// The images that have descriptors, and what belongs to them; the names of the others go to
// `left_out`. REQUIRES: a label for each image
LabelledImages WithoutEmptyImages(LabelledImages all, std::vector<std::string>& left_out);

// Hashing with labels (section VII of the paper): SASH from the local features against the
// supervised methods, which get the vectors of generalised max pooling. Every seed has its own
// split. Metrics: "mAP" and "asymmetric_mAP" in percent over all results, "training_seconds" (after
// the images were reduced and pooled; SASH's own pooling while it learns counts), and "paper_mAP",
// the paper's figures where it has them.
Experiment RunSupervisedExperiment(Env& env, const SupervisedOptions& options,
                                   const LabelledImages& images, const RunContext& context);

// The report as a page.
std::string SupervisedReport(const Experiment& experiment);

// What makes our figures differ from the paper's, in a line.
std::string SupervisedDifferences();

}  // namespace bitpool
