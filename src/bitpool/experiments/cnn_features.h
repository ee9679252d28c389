#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "bitpool/base/run_context.h"
#include "bitpool/image/picture_views.h"
#include "bitpool/io/env.h"
#include "bitpool/pictures/network_file.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

// A public set as local features of a network.
struct CnnFeatures {
  std::string name;
  std::string features;  // what they are, in words
  std::shared_ptr<const FeatureSet> train, test;
  // The first of the training pictures again, with their views; null: none were asked for.
  std::shared_ptr<const FeatureSet> views = nullptr;
  Labels train_labels, test_labels;
};

struct CnnFeaturesRequest {
  std::string set;               // a name of PublicSets()
  std::filesystem::path folder;  // holds the sets; features are kept there too
  CnnPaths network;
  CnnOptions options = {};
  // Dimensions of the features after a local PCA, learned from the training pictures; 0: none.
  Index reduced = 0;
  Index limit = 0;          // only this many of the pictures, the first of each part; 0: all
  ViewPlan views = {};      // of training pictures
  Index with_views = 5000;  // the first this many, or all where there are not that many
};

// The features of a public set, extracted once and kept beside its pictures in files of a thousand
// pictures each: an extraction that was interrupted continues with the file it had reached, and one
// with a limit is a part of the complete one. `say` gets a line about anything that takes long.
// Throws kNotFound when the set or the network is not there.
CnnFeatures LoadCnnFeatures(Env& env, const CnnFeaturesRequest& request, const RunContext& context,
                            const std::function<void(const std::string&)>& say);

}  // namespace bitpool
