#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/labels.h"
#include "bitpool/training/hash_methods.h"

namespace bitpool {

struct TuneOptions {
  HashSettings settings;    // method "sah", "sash" or "rba", and its bits; constants that are set
                            // stay
  Index training = 3000;    // images to learn from, at most
  Index validation = 1000;  // images to ask with, at most; never more than a third
  int seeds = 2;            // runs of every candidate
  int rounds = 2;           // refinements around the best of the grid
  // With labels: some of the classes are held out instead of images of all classes, so that codes
  // are chosen which serve for classes that were never seen.
  bool unseen_classes = false;

  // Throws kInvalidArgument when a field has no meaning.
  void Validate() const;
};

// One choice of constants and what it scored.
struct TuneTrial {
  double lambda = 0, beta = 0, gamma = 0, mu = 0, alpha = 0;
  double score = 0;  // mAP in percent, mean over the seeds
};

struct TuneResult {
  std::string criterion;          // what was scored, in words
  std::vector<TuneTrial> trials;  // in the order they were tried
  TuneTrial best;

  // The settings with the best constants.
  HashSettings Chosen(const HashSettings& settings) const;
};

// Chooses λ, β, γ, μ and α by cross-validation on training images alone: some of them are held out
// and asked for by codes. SAH and RBA try a grid of all their constants. SASH has one more and
// tries them in stages: γ and μ over the ranges that the paper searches, then λ and β, then α. The
// other methods that learn from labels keep their authors' settings, and μ of the pooling is chosen
// from those of SASH.
// Without labels the first half of an image's descriptors must find the second half, among all
// held-out images: two parts of a picture are to such a search what two pictures of a scene are.
// With labels, which methods that learn from them need, an image must find held-out images of its
// class.
TuneResult Tune(const TuneOptions& options, const FeatureSet& features, const Labels* labels,
                const RunContext& context);

// Constants as a file has them that `train --config` reads, and back. ReadConfig keeps what is set
// in `settings`, and throws kInvalidArgument, naming the key, for what it does not know.
nlohmann::json WriteConfig(const HashSettings& settings, const TuneResult& result);
HashSettings ReadConfig(const nlohmann::json& config, HashSettings settings);

}  // namespace bitpool
