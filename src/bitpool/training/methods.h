#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/training/method.h"

// The registry: every method by its name, and what is done with methods by name.
namespace bitpool {

// All methods, those of the paper first among their kind.
const std::vector<Method>& Methods();

// Those that are wanted. Null: all.
using MethodFilter = bool (*)(const Method& method);
std::vector<std::string> MethodNames(MethodFilter wanted = nullptr);

bool NeedsNoLabels(const Method& method);
bool LearnsFromVectorsAlone(const Method& method);  // without labels and views
bool HasTuning(const Method& method);               // of its own, not only after a whitening
bool WritesCheckpoints(const Method& method);       // when it trains on local features

// Throws kInvalidArgument, listing those that are wanted.
const Method& FindMethod(std::string_view name, MethodFilter wanted = nullptr);

// Throws kInvalidArgument for a method, preset or option that is not known, and for values that the
// method refuses.
void RequireValid(const MethodSettings& settings);

// The value of an option of the settings' method: as set, or that of the preset. Throws as
// RequireValid.
double ValueOf(const MethodSettings& settings, std::string_view option);

// Whether the method with these settings learns from the views of pictures. Throws as RequireValid.
bool UsesViews(const MethodSettings& settings);

// Whether it learns from views where there are some: those that use them, and those that can do
// without them. Throws as RequireValid.
bool TakesViews(const MethodSettings& settings);

// Whether views whiten the vectors that it learns from. Throws as RequireValid.
bool WhitensByViews(const MethodSettings& settings);

// What `tune` tries for the method with these settings: its own plan, and the constants of the
// whitening where it whitens.
TunePlan TuningOf(const MethodSettings& settings);

// Throws kInvalidArgument when a method needs labels and there are none, when it takes none and
// there are some, or when the numbers of labels and samples differ.
void RequireLabels(const Method& method, const Labels* labels, Index samples);

// Trains a method of vectors. Throws kInvalidArgument when settings and samples do not fit.
Trained<HashModel> TrainOnVectors(const MethodSettings& settings, const VectorSamples& samples,
                                  const RunContext& context);

// Trains a method of local features. Throws kInvalidArgument likewise.
Trained<HashModel> TrainOnRecords(const MethodSettings& settings, RecordSamples samples,
                                  const RunContext& context);

// Trains a method over shards, of vectors or of images, whichever it learns from; with views, and
// where they whiten the vectors, over ViewShards of pictures of this many images each. The time it
// took is not remembered, so that the model has the same bytes as one that was trained again.
// Throws as RequireShardable.
Trained<HashModel> TrainOnShards(const MethodSettings& settings, Shards& shards, Index per_picture,
                                 const RunContext& context);
bool LearnsFromShards(const Method& method);
// Throws kUnsupported for methods and options that do not come down to sums over samples.
void RequireShardable(const MethodSettings& settings);

// The options that are set, each with its type. Throws kInvalidArgument for those that the method
// does not have.
nlohmann::json DescribeOptions(const MethodSettings& settings);
// The value of an option in JSON.
nlohmann::json OptionToJson(const OptionDescription& option, double value);

// Settings and summary as they are stored with a model.
nlohmann::json DescribeSettings(const MethodSettings& settings, uint64_t seed);
nlohmann::json DescribeTraining(const MethodSettings& settings, const TrainingSummary& summary,
                                uint64_t seed);

}  // namespace bitpool
