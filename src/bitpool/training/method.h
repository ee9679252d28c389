#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/alternation.h"
#include "bitpool/hash/contrast.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/image_record.h"
#include "bitpool/hash/view_whitening.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/shards.h"
#include "bitpool/linalg/trained.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/labels.h"
#include "bitpool/training/encoder_kinds.h"
#include "bitpool/training/option_table.h"

namespace bitpool {

inline constexpr std::string_view kDefaultPreset = "default";
inline constexpr std::string_view kPaperPreset = "paper";  // the paper's constants, literally

// What a user chose: a method and the values of some of its options. An option that is not set has
// the value of the preset.
struct MethodSettings {
  std::string method = "rba";
  int bits = 32;
  std::string preset = std::string(kDefaultPreset);
  OptionValues options = {};  // but for the bits
};

enum class LearnsFrom {
  kVectors,        // one per image; for local features, those of generalised max pooling
  kLocalFeatures,  // as records, since it learns how to pool them
};

// Vectors to learn from: those of pictures, and of their views where there are some.
struct VectorSamples {
  const ColumnSource& vectors;
  const Labels* labels = nullptr;  // of the pictures, for methods that need them
  Index per_picture = 1;           // images of each picture, as in ViewVectors
  ContrastRun run = {};            // of the contrast of views: where to continue, and an observer

  ViewVectors images() const { return {.vectors = vectors, .per_picture = per_picture}; }
};

// Images to learn from, reduced to records.
struct RecordSamples {
  const RecordStore& records;
  const Labels* labels = nullptr;            // of the records, for methods that need them
  JointRun run = {};                         // where to continue, and an observer
  const ViewWhitening* whitening = nullptr;  // of the pictures' vectors, where it is asked for
};

// Learns how to pool images whose pictures have views: better than `first` does, beginning with the
// hash functions `start` of vectors that were pooled by it.
using PoolingLearner =
    std::function<PoolingRecipe(const PoolingRecipe& first, const LinearMap& start,
                                const FeatureSet& images, const RunContext& context)>;

// What `tune` tries for a method.
struct TunePlan {
  // Values of one option that are tried.
  struct Axis {
    std::string_view option;
    std::vector<double> values;
    // The values are multiples of the value that this option has in the same candidate; empty: they
    // are values of their own.
    std::string_view multiples_of = {};
  };
  // All combinations of the values of some options, those of the first in the outermost loop, while
  // the other options keep the best values so far, or their defaults.
  using Stage = std::vector<Axis>;
  // A refinement multiplies or divides the first option by a step; the others go along.
  using Move = std::vector<std::string_view>;

  std::vector<Stage> stages = {};  // in order; none: the method has nothing to tune
  std::vector<Move> moves = {};    // of every round of refinement, in order

  // The options that it chooses, in the order of the stages.
  std::vector<std::string_view> Options() const;
};

// A way to learn codes: all that the program, experiments, tuning and model files know of it.
struct Method {
  std::string name;         // "rba"
  std::string title;        // "Relaxed Binary Autoencoder"
  std::string publication;  // whose it is
  LearnsFrom learns_from = LearnsFrom::kVectors;
  bool needs_labels = false;
  bool needs_views = false;  // learns from views of the pictures
  // Learns from views as they are, where there are some and no whitening is asked for; without
  // this, those that need views learn from vectors whitened by them, and others from the pictures
  // alone.
  bool plain_views = false;
  bool has_contrast = false;  // runs a ContrastRun, so that it can be interrupted and go on
  EncoderKind encoder;
  TunePlan tune = {};

  // The parts below come from the method's option struct (method_builder.h).

  std::vector<OptionDescription> options = {};  // those of the default preset; `bits` is the first
  std::vector<std::string> presets = {};        // besides the default

  // The values of all options that the settings ask for. Throws kInvalidArgument for values without
  // meaning.
  std::function<OptionValues(const MethodSettings&)> values = {};
  // For methods of vectors that can learn the pooling too: the learner, or null where the settings
  // do not ask for it. Empty for all others.
  std::function<PoolingLearner(const MethodSettings&)> pooling_learner = {};
  // The trainer for what it learns from; the other one is empty.
  std::function<Trained<HashModel>(const MethodSettings&, const VectorSamples&, const RunContext&)>
      train_on_vectors = {};
  std::function<Trained<HashModel>(const MethodSettings&, RecordSamples, const RunContext&)>
      train_on_records = {};
  // The same for samples in shards, ImageShards where it learns from local features; empty where
  // what it learns from is not a sum over samples.
  std::function<Trained<HashModel>(const MethodSettings&, Shards&, const RunContext&)>
      train_on_shards = {};

  // Null when the method has no such option.
  const OptionDescription* FindOption(std::string_view option) const;
};

}  // namespace bitpool
