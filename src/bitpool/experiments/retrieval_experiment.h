#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "bitpool/base/run_context.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/embed/triangulation_embedding.h"
#include "bitpool/experiments/joint_experiment.h"
#include "bitpool/io/env.h"
#include "bitpool/pictures/picture_describer.h"
#include "bitpool/report/experiment_result.h"

namespace bitpool {

// A set of pictures with a protocol of its own.
struct RetrievalSet {
  std::string name = "holidays";   // or "oxford5k", "paris6k"
  std::filesystem::path pictures;  // the folder of its pictures
  std::filesystem::path truth;     // the folder of the ground-truth files; not for Holidays, whose
                                   // names tell all
  std::filesystem::path training;  // other pictures, from which everything is learned
};

struct RetrievalOptions {
  JointOptions joint = {};
  ExtractorSettings extractor = {};
  TriangulationOptions embedding = {};  // of hesaff and dense
  Index sample = 200'000;               // descriptors the embedding learns from, at most
  // Dimensions of a network's features after a local PCA, learned from the training pictures; 0: as
  // they come.
  Index reduced = 0;
  ViewPlan views = {};                  // of the training pictures
  Index limit = 0;                      // training pictures to use, the first by name; 0: all
  Index searched = 0;                   // pictures of the set to use, likewise
  uint64_t memory = uint64_t{4} << 30;  // for images; beyond, they go to a file
  std::filesystem::path work;           // where features are kept for the next run
  bool normalise = true;                // local features to unit length
  // Constants of SAH and RBA that are not given are chosen by `Tune` on the training pictures, with
  // codes of `tune_bits`; the methods that only pool take μ from those of RBA.
  bool tune = false;
  int tune_bits = 32;

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// The features of a folder's pictures: from the last run, or described now and kept in `work` under
// a name that identifies `name`, the pictures and the describer. `limit`: only this many, the
// first; 0: all. Pictures that cannot be described are reported by `say` and left out. With a plan,
// views are described too.
FeatureFile KeptPictureFeatures(Env& env, const PictureDescriber& describer,
                                const std::filesystem::path& folder, const std::string& name,
                                Index limit, const std::filesystem::path& work,
                                const RunContext& context,
                                const std::function<void(const std::string&)>& say,
                                const ViewPlan& views = {});

// The paper's section V, from pictures: local features of all of them, embedded where they are
// SIFT, and SAH against hashing of their aggregation (see RunJointExperiment), and with views of
// the training pictures our own methods. The embedding and the hash functions are learned from the
// training pictures alone. Besides the metrics of that experiment, data["gmp_cosine_mAP"] has the
// mAP, in percent, of the vectors of generalised max pooling by their cosine, before any hashing:
// what codes should come near.
//
// A picture that cannot be described is reported by `say` and left out, even from the set: queries
// by it or for it then do not count (Holidays), or it is not found where the ground-truth files
// name it (kNotFound; Oxford and Paris). Features are kept in `work` under names that identify the
// pictures and the extractor. Throws kInvalidArgument when there is nothing to learn from, there
// are no queries, or a query's box has no features.
Experiment RunRetrievalExperiment(Env& env, const RetrievalOptions& options,
                                  const RetrievalSet& set, const RunContext& context,
                                  const std::function<void(const std::string&)>& say);

}  // namespace bitpool
