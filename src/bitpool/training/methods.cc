#include "bitpool/training/methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/hash/view_shards.h"
#include "bitpool/training/method_entries.h"
#include "bitpool/training/view_stage.h"

// The list of all methods; a new one is one more line here. Each name X stands for a function
// `Method XMethod()` in a file of this room.
#define BITPOOL_METHODS(METHOD) \
  METHOD(Sav)                   \
  METHOD(Sah)                   \
  METHOD(Rba)                   \
  METHOD(Ba)                    \
  METHOD(Itq)                   \
  METHOD(Kmh)                   \
  METHOD(Sph)                   \
  METHOD(Pcah)                  \
  METHOD(Lsh)                   \
  METHOD(CibHash)               \
  METHOD(Sadh)                  \
  METHOD(GraphBit)              \
  METHOD(DeepBit)               \
  METHOD(Sash)                  \
  METHOD(Sdh)                   \
  METHOD(Ksh)                   \
  METHOD(Bre)                   \
  METHOD(CcaItq)

namespace bitpool {

#define BITPOOL_DECLARE(NAME) Method NAME##Method();
BITPOOL_METHODS(BITPOOL_DECLARE)
#undef BITPOOL_DECLARE

namespace {

// What fits into every field that a whole number may be for.
constexpr OptionRange kWholeNumbers = {.least = std::numeric_limits<int>::min(),
                                       .most = std::numeric_limits<int>::max()};

// Throws kInvalidArgument for what the method does not have.
const Method& CheckedMethod(const MethodSettings& settings) {
  const Method& method = FindMethod(settings.method);
  if (settings.preset != kDefaultPreset &&
      std::ranges::find(method.presets, settings.preset) == method.presets.end()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        method.presets.empty()
            ? fmt::format("the method {} has no preset", method.name)
            : fmt::format("the method {} has no preset \"{}\"; expected {} or {}", method.name,
                          settings.preset, kDefaultPreset, fmt::join(method.presets, ", ")));
  }
  for (const auto& [name, value] : settings.options) {
    const OptionDescription* option = name == "bits" ? nullptr : method.FindOption(name);
    if (option == nullptr) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the method {} has no {} to set", method.name, name));
    }
    if (option->type != OptionType::kReal && value != std::floor(value)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{}: expected a whole number, got {}", name, value));
    }
    if (option->type == OptionType::kWhole && !kWholeNumbers.Contains(value)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{}: expected a whole number from {} to {}, got {}", name,
                              kWholeNumbers.least, kWholeNumbers.most, value));
    }
  }
  return method;
}

void RequireWholePictures(const VectorSamples& samples) {
  if (samples.per_picture >= 1 && samples.vectors.size() % samples.per_picture == 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} vectors: expected {} of every picture, itself and its views",
                          samples.vectors.size(), samples.per_picture));
}

}  // namespace

std::vector<std::string_view> TunePlan::Options() const {
  std::vector<std::string_view> options;
  for (const Stage& stage : stages) {
    for (const Axis& axis : stage) options.push_back(axis.option);
  }
  return options;
}

const OptionDescription* Method::FindOption(std::string_view option) const {
  const auto found = std::ranges::find(options, option, &OptionDescription::name);
  return found == options.end() ? nullptr : &*found;
}

OptionTable<PoolingRecipe> PoolingTable() {
  return OptionTable<PoolingRecipe>()
      .Add("mu", &PoolingRecipe::mu, kMuHelp, Positive())
      .Add("normalise", &PoolingRecipe::normalise, kNormaliseHelp)
      .OfPooling();
}

const std::vector<Method>& Methods() {
#define BITPOOL_ENTRY(NAME) NAME##Method(),
  static const std::vector<Method> methods = {BITPOOL_METHODS(BITPOOL_ENTRY)};
#undef BITPOOL_ENTRY
  return methods;
}

std::vector<std::string> MethodNames(MethodFilter wanted) {
  std::vector<std::string> names;
  for (const Method& method : Methods()) {
    if (wanted == nullptr || wanted(method)) names.push_back(method.name);
  }
  return names;
}

bool NeedsNoLabels(const Method& method) { return !method.needs_labels; }

bool LearnsFromVectorsAlone(const Method& method) {
  return method.learns_from == LearnsFrom::kVectors && !method.needs_labels && !method.needs_views;
}

bool HasTuning(const Method& method) { return !method.tune.stages.empty(); }

bool WritesCheckpoints(const Method& method) {
  return method.learns_from == LearnsFrom::kLocalFeatures || method.has_contrast;
}

const Method& FindMethod(std::string_view name, MethodFilter wanted) {
  const auto found = std::ranges::find(Methods(), name, &Method::name);
  if (found != Methods().end() && (wanted == nullptr || wanted(*found))) return *found;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("method \"{}\": expected one of {}", name,
                                                       fmt::join(MethodNames(wanted), ", ")));
}

void RequireValid(const MethodSettings& settings) { CheckedMethod(settings).values(settings); }

double ValueOf(const MethodSettings& settings, std::string_view option) {
  const OptionValues values = CheckedMethod(settings).values(settings);
  const auto found = values.find(option);
  if (found == values.end()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the method {} has no {}", settings.method, option));
  }
  return found->second;
}

bool UsesViews(const MethodSettings& settings) {
  return CheckedMethod(settings).needs_views || WhitensByViews(settings);
}

bool TakesViews(const MethodSettings& settings) {
  return CheckedMethod(settings).plain_views || UsesViews(settings);
}

bool WhitensByViews(const MethodSettings& settings) {
  const Method& method = CheckedMethod(settings);
  if (method.needs_views && !method.plain_views) return true;
  const OptionValues values = method.values(settings);
  const auto whiten = values.find("whiten");
  return whiten != values.end() && whiten->second != 0;
}

TunePlan TuningOf(const MethodSettings& settings) {
  const Method& method = FindMethod(settings.method);
  TunePlan plan = method.tune;
  if (method.needs_views || !WhitensByViews(settings)) return plan;
  const TunePlan::Axis epsilon{"epsilon", {0.03, 0.1, 0.3, 1, 3}};
  if (plan.stages.empty()) {
    plan.stages = {{{"mu", {1, 10, 100}}, epsilon}};
    plan.moves = {{"mu"}};
  } else {
    plan.stages.push_back({epsilon});
  }
  plan.stages.push_back({{"views", {2, 4, 0}}});
  return plan;
}

void RequireLabels(const Method& method, const Labels* labels, Index samples) {
  if (method.needs_labels != (labels != nullptr)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the method {} {}", method.name,
                    labels == nullptr ? "learns from labels; expected some" : "takes no labels"));
  }
  if (labels != nullptr && labels->size() != samples) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} labels for {} samples", labels->size(), samples));
  }
}

Trained<HashModel> TrainOnVectors(const MethodSettings& settings, const VectorSamples& samples,
                                  const RunContext& context) {
  const Method& method = CheckedMethod(settings);
  RequireWholePictures(samples);
  RequireLabels(method, samples.labels, samples.images().pictures());
  if (!method.train_on_vectors) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the method {} learns from local features, not from vectors", settings.method));
  }
  return TrainBehindViews(method, settings, samples, context);
}

Trained<HashModel> TrainOnRecords(const MethodSettings& settings, RecordSamples samples,
                                  const RunContext& context) {
  const Method& method = CheckedMethod(settings);
  RequireLabels(method, samples.labels, samples.records.size());
  if (!method.train_on_records) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the method {} learns from vectors, not from local features", settings.method));
  }
  return method.train_on_records(settings, std::move(samples), context);
}

bool LearnsFromShards(const Method& method) { return static_cast<bool>(method.train_on_shards); }

void RequireShardable(const MethodSettings& settings) {
  const Method& method = CheckedMethod(settings);
  const bool whitens = WhitensByViews(settings);
  if (!LearnsFromShards(method)) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("the method {} does not come down to sums over shards{}; expected one "
                    "of {}",
                    method.name, whitens ? ", but its whitening does (itq with whiten)" : "",
                    fmt::join(MethodNames(LearnsFromShards), ", ")));
  }
  if (whitens && method.learns_from == LearnsFrom::kLocalFeatures) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("whiten: {} does not whiten over shards; expected itq or rba", method.name));
  }
  if (method.FindOption("anchors") != nullptr && ValueOf(settings, "anchors") != 0) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("anchors: {} over shards is linear; expected 0", method.name));
  }
}

Trained<HashModel> TrainOnShards(const MethodSettings& settings, Shards& shards, Index per_picture,
                                 const RunContext& context) {
  const Method& method = CheckedMethod(settings);
  RequireShardable(settings);
  std::optional<ViewWhitening> whitening;
  if (WhitensByViews(settings)) {
    whitening =
        LearnWhitening({.epsilon = ValueOf(settings, "epsilon")}, shards, per_picture, context);
  }
  Trained<HashModel> trained = method.train_on_shards(settings, shards, context);
  if (whitening) trained.model = FoldWhitening(*whitening, std::move(trained.model));
  for (TrainingIteration& iteration : trained.summary.iterations) iteration.seconds = 0;
  trained.summary.seconds = 0;
  return trained;
}

nlohmann::json OptionToJson(const OptionDescription& option, double value) {
  switch (option.type) {
    case OptionType::kSwitch:
      return value != 0;
    case OptionType::kWhole:
      return static_cast<int64_t>(value);
    case OptionType::kReal:
      break;
  }
  return value;
}

nlohmann::json DescribeOptions(const MethodSettings& settings) {
  const Method& method = CheckedMethod(settings);
  nlohmann::json described = nlohmann::json::object();
  for (const auto& [name, value] : settings.options) {
    described[name] = OptionToJson(*method.FindOption(name), value);
  }
  return described;
}

nlohmann::json DescribeSettings(const MethodSettings& settings, uint64_t seed) {
  nlohmann::json described = DescribeOptions(settings);
  described["method"] = settings.method;
  described["bits"] = settings.bits;
  described["preset"] = settings.preset;
  described["normalise"] = ValueOf(settings, "normalise") != 0;
  described["seed"] = seed;
  return described;
}

nlohmann::json DescribeTraining(const MethodSettings& settings, const TrainingSummary& summary,
                                uint64_t seed) {
  nlohmann::json iterations = nlohmann::json::array();
  for (const TrainingIteration& record : summary.iterations) {
    iterations.push_back({{"objective", record.objective},
                          {"reconstruction", record.reconstruction},
                          {"quantisation", record.quantisation},
                          {"aggregation", record.aggregation},
                          {"flipped", record.flipped},
                          {"seconds", record.seconds}});
  }
  return {{"options", DescribeSettings(settings, seed)},
          {"samples", summary.samples},
          {"iterations", iterations},
          {"skipped", summary.skipped},
          {"converged", summary.converged},
          {"interrupted", summary.interrupted},
          {"seconds", summary.seconds}};
}

}  // namespace bitpool
