#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/labels.h"
#include "bitpool/training/method.h"

namespace bitpool {

struct TuneOptions {
  MethodSettings settings;  // a method that has something to tune; options that are set stay
  Index training = 3000;    // images to learn from, at most
  Index validation = 1000;  // images held out as queries and database, at most; never more than a
                            // third
  int seeds = 2;            // runs of every candidate
  int rounds = 2;           // refinements around the best of the grid
  // With labels: some of the classes are held out instead of images of all classes, so that the
  // codes chosen also serve classes that were never seen. Every run holds out others, and constants
  // change only for a gain that is larger than its own standard error: the best of many candidates
  // for a few classes is not the best for others.
  bool unseen_classes = false;
  // Without labels, where pictures have views: searches are for other pictures of the same kind of
  // thing, so a view must also find the pictures that are most like its own, not its own alone.
  bool look_for_classes = false;

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// One choice of constants and what it scored.
struct TuneTrial {
  OptionValues constants;         // those of the method's TunePlan
  std::vector<double> runs = {};  // mAP in percent, of each run
  double score = 0;               // their mean

  // 0 for a constant that the method does not have.
  double ValueOf(std::string_view constant) const;
};

struct TuneResult {
  std::string criterion;          // what was scored, in words
  std::vector<TuneTrial> trials;  // in the order they were tried
  TuneTrial best;

  // The settings with the best constants.
  MethodSettings Chosen(const MethodSettings& settings) const;
};

// The constants that are chosen for any method, each once, as columns of a table.
std::vector<std::string> TunedConstants();

// Chooses the constants of a method by cross-validation on training images alone: some of them are
// held out, and their codes search each other. What is tried is the method's TunePlan.
// Without labels the first half of an image's descriptors must find the second half, among all
// held-out images: two parts of a picture are to such a search what two pictures of a scene are.
// Where pictures have views, a view must find another one of its picture.
// With labels, which methods that learn from them need, an image must find held-out images of its
// class.
TuneResult Tune(const TuneOptions& options, const FeatureSet& features, const Labels* labels,
                const RunContext& context);

// Constants in the form of the file that `train --config` reads, and back. ReadConfig keeps what is
// set in `settings`, and throws kInvalidArgument, naming the key, for what it does not know.
nlohmann::json WriteConfig(const MethodSettings& settings, const TuneResult& result);
MethodSettings ReadConfig(const nlohmann::json& config, MethodSettings settings);

}  // namespace bitpool
