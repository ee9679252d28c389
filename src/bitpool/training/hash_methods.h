#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/hash/sah.h"
#include "bitpool/hash/sash.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/trained.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

// A way to learn codes, as users name it.
struct HashMethod {
  std::string_view name;         // "rba"
  std::string_view title;        // "Relaxed Binary Autoencoder"
  std::string_view publication;  // whose it is
};

// All methods that learn from vectors without labels, RBA first.
const std::vector<HashMethod>& VectorMethods();

// All methods that learn from labels, SASH first. All but SASH learn from vectors.
const std::vector<HashMethod>& SupervisedMethods();

// All methods that learn from sets of local features: SAH and SASH, and those of vectors, which get
// the vectors of generalised max pooling.
const std::vector<HashMethod>& FeatureMethods();

bool NeedsLabels(std::string_view method);

// Throws kInvalidArgument when a method needs labels and there are none, takes none and there are
// some, or when they are not as many as the samples.
void RequireLabels(std::string_view method, const Labels* labels, Index samples);

// Throws kInvalidArgument, listing the known ones.
const HashMethod& FindVectorMethod(std::string_view name);

// What a user may set. What is not set has the method's default; what a method does not have is
// refused.
struct HashSettings {
  std::string method = "rba";
  int bits = 32;
  bool paper = false;  // the paper's constants, literally (rba, sah, sash)
  std::optional<int> iterations = {};
  std::optional<double> lambda = {};  // rba, sah, sash
  std::optional<double> beta = {};    // rba, sah, sash
  std::optional<double> gamma = {};   // sah, sash
  std::optional<double> alpha = {};   // sash
  std::optional<double> mu = {};      // of pooling, for all methods that learn from local features
  bool normalise = true;              // local features to unit length first
};

// Trains the method on vectors. Throws kInvalidArgument when settings and data do not fit.
Trained<HashModel> TrainHash(const HashSettings& settings, const ColumnSource& source,
                             const RunContext& context);

// The same for a method that learns from vectors and their labels.
Trained<HashModel> TrainHash(const HashSettings& settings, const ColumnSource& source,
                             const Labels& labels, const RunContext& context);

// The options of SAH and SASH that the settings ask for. Throw kInvalidArgument for what the
// method does not have.
SahOptions SahOptionsFrom(const HashSettings& settings);
SashOptions SashOptionsFrom(const HashSettings& settings);

// Settings and summary as they are stored with a model.
nlohmann::json DescribeSettings(const HashSettings& settings, uint64_t seed);
nlohmann::json DescribeTraining(const HashSettings& settings, const TrainingSummary& summary,
                                uint64_t seed);

}  // namespace bitpool
