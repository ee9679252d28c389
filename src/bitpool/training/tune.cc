#include "bitpool/training/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/hash/sash.h"
#include "bitpool/samples/retrieval_splits.h"
#include "bitpool/samples/splits.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/pooled_vectors.h"
#include "bitpool/training/tune_criterion.h"
#include "bitpool/training/tune_search.h"

namespace bitpool {
namespace {

// What the first refinement multiplies and divides a constant by; each next takes its root.
constexpr double kFirstStep = 3;

// This many of the items, drawn at random; all when there are no more.
std::vector<Index> Draw(const std::vector<Index>& items, Index count, uint64_t seed) {
  if (static_cast<Index>(items.size()) <= count) return items;
  std::vector<Index> drawn;
  for (const Index i : ChooseItems(static_cast<Index>(items.size()), count, seed).chosen) {
    drawn.push_back(items[static_cast<size_t>(i)]);
  }
  return drawn;
}

bool Normalises(const TuneOptions& options) { return ValueOf(options.settings, "normalise") != 0; }

// What is held out and what is learned from.
Split HoldOut(const TuneOptions& options, const FeatureSet& features, const Labels* labels,
              uint64_t seed) {
  const Index held_out = std::min(options.validation, features.pictures() / 3);
  if (held_out < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} images are too few to hold some out: expected 6 or more",
                            features.pictures()));
  }
  if (!options.unseen_classes) return ChooseItems(features.pictures(), held_out, seed);
  const RetrievalSplit classes =
      SplitUnseenSampled(*labels, {.queries_per_class = 1, .training_per_class = 0}, seed);
  Split split{.chosen = classes.database, .rest = classes.training};
  split.chosen = Draw(split.chosen, held_out, seed);
  return split;
}

// One way to hold pictures out, and what scores models on it.
class Fold {
 public:
  Fold(const TuneOptions& options, const FeatureSet& features, const Labels* labels,
       const RunContext& context)
      : split_(HoldOut(options, features, labels, context.seed())),
        records_(features.dimension()),
        criterion_({.images = features,
                    .pictures = split_.chosen,
                    .normalise = Normalises(options),
                    .labels = labels,
                    .look_for_classes = options.look_for_classes},
                   context.WithoutProgress()),
        training_(WholePictures(features, Draw(split_.rest, options.training, context.seed()))),
        images_(FeatureSubset::OfPictures(features, training_)),
        trainer_(records_, &labels_, &images_, Normalises(options)) {
    const FeatureSubset pictures = FeatureSubset::WithoutViews(images_);
    ReduceImages(pictures, Normalises(options), records_, context);
    if (FindMethod(options.settings.method).needs_labels) {
      labels_ = LabelsOfRecords(pictures, labels->Select(training_));
    }
  }

  const TuneCriterion& criterion() const { return criterion_; }

  double Score(const MethodSettings& settings, const RunContext& context) {
    return criterion_.Score(trainer_.Train(settings, context), context);
  }

 private:
  Split split_;
  MemoryRecords records_;  // of the pictures to learn from
  Labels labels_;          // theirs, where they are learned from
  TuneCriterion criterion_;
  std::vector<Index> training_;
  FeatureSubset images_;  // those of the pictures to learn from, with their views
  RecordTrainer trainer_;
};

class Tuner {
 public:
  Tuner(const TuneOptions& options, const FeatureSet& features, const Labels* labels,
        const RunContext& context)
      : options_(options),
        context_(context),
        plan_(TuningOf(options.settings)),
        search_(plan_, options_.settings.options) {
    // Which classes are held out decides far more than anything else, so every run holds out
    // others.
    const int folds = options.unseen_classes ? options.seeds : 1;
    for (int fold = 0; fold < folds; ++fold) {
      folds_.push_back(std::make_unique<Fold>(options, features, labels, Seeded(fold)));
    }
  }

  TuneResult Run() {
    TuneResult result;
    result.criterion = folds_.front()->criterion().Describe(options_.unseen_classes);
    const OptionValues values = FindMethod(options_.settings.method).values(options_.settings);
    for (const std::string_view option : plan_.Options()) {
      result.best.constants[std::string(option)] = values.find(option)->second;
    }
    if (options_.unseen_classes) TryAll({result.best.constants}, "defaults", result);
    for (const TunePlan::Stage& stage : plan_.stages) {
      TryAll(search_.Grid(stage, result.best.constants), "coarse grid", result);
    }
    double step = kFirstStep;
    for (int round = 0; round < options_.rounds; ++round) {
      TryAll(search_.Around(result.best.constants, step), "refining", result);
      step = std::sqrt(step);
    }
    return result;
  }

 private:
  RunContext Seeded(int run) const {
    return context_.WithSeed(context_.seed() + static_cast<uint64_t>(run));
  }

  // Tries the candidates, and takes the one with the largest gain over the best so far, if any.
  void TryAll(const std::vector<OptionValues>& candidates, const char* task, TuneResult& result) {
    Progress progress = context_.StartProgress(task, "candidates", candidates.size());
    const TuneTrial before = result.best;
    double largest_gain = 0;
    for (const OptionValues& candidate : candidates) {
      // Every stage has the best so far among its candidates.
      const auto tried = std::ranges::find(result.trials, candidate, &TuneTrial::constants);
      TuneTrial trial = tried == result.trials.end() ? Try(candidate) : *tried;
      const double gain = before.runs.empty() ? trial.score : GainOf(trial, before);
      if (result.trials.empty() || gain > largest_gain) {
        result.best = trial;
        largest_gain = gain;
      }
      result.trials.push_back(std::move(trial));
      progress.Advance();
    }
  }

  double GainOf(const TuneTrial& trial, const TuneTrial& best) const {
    return options_.unseen_classes ? SureGain(trial.runs, best.runs) : trial.score - best.score;
  }

  TuneTrial Try(const OptionValues& candidate) {
    MethodSettings settings = options_.settings;
    for (const auto& [option, value] : candidate) settings.options[option] = value;
    TuneTrial trial{.constants = candidate};
    for (int run = 0; run < options_.seeds; ++run) {
      Fold& fold = *folds_[static_cast<size_t>(run) % folds_.size()];
      trial.runs.push_back(fold.Score(settings, Seeded(run).WithoutProgress()));
      trial.score += trial.runs.back() / options_.seeds;
      context_.ThrowIfStopped();
    }
    return trial;
  }

  const TuneOptions& options_;
  RunContext context_;
  TunePlan plan_;
  TuneSearch search_;
  std::vector<std::unique_ptr<Fold>> folds_;  // one, or one for each run
};

}  // namespace

void TuneOptions::Validate() const {
  RequireBits(settings.bits);
  if (TuningOf(settings).stages.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("method \"{}\": only {} have constants to tune without whitening",
                            settings.method, fmt::join(MethodNames(HasTuning), ", ")));
  }
  if (settings.preset != kDefaultPreset) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the preset \"{}\" is literal: its constants are not tuned", settings.preset));
  }
  RequireValid(settings);
  if (training < 2 || validation < 2 || seeds < 1 || rounds < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected at least 2 images to learn from and 2 to search with, and 1 seed");
  }
}

namespace {

// The value of an option in a file of constants.
double ConfiguredValue(const Method& method, const std::string& key, const nlohmann::json& value) {
  const OptionDescription* option = key == "bits" ? nullptr : method.FindOption(key);
  const bool is_switch = option != nullptr && option->type == OptionType::kSwitch;
  if (option != nullptr && (is_switch ? value.is_boolean() : value.is_number())) {
    return is_switch ? (value.get<bool>() ? 1 : 0) : value.get<double>();
  }
  std::vector<std::string> known;
  for (const OptionDescription& each : method.options) {
    if (each.name != "bits") known.push_back(each.name);
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("\"{}\": expected method, or one of the options of {} with a number, "
                          "true or false: {}",
                          key, method.name, fmt::join(known, ", ")));
}

}  // namespace

double TuneTrial::ValueOf(std::string_view constant) const {
  const auto found = constants.find(constant);
  return found == constants.end() ? 0 : found->second;
}

MethodSettings TuneResult::Chosen(const MethodSettings& settings) const {
  MethodSettings chosen = settings;
  for (const std::string_view option : TuningOf(settings).Options()) {
    chosen.options[std::string(option)] = best.ValueOf(option);
  }
  return chosen;
}

std::vector<std::string> TunedConstants() {
  std::vector<std::string> all;
  for (const Method& method : Methods()) {
    for (const bool whiten : {false, true}) {
      MethodSettings settings{.method = method.name};
      if (whiten && method.FindOption("whiten") != nullptr) settings.options["whiten"] = 1;
      for (const std::string_view option : TuningOf(settings).Options()) {
        if (std::ranges::find(all, option) == all.end()) all.emplace_back(option);
      }
    }
  }
  return all;
}

TuneResult Tune(const TuneOptions& options, const FeatureSet& features, const Labels* labels,
                const RunContext& context) {
  options.Validate();
  if (labels != nullptr && labels->size() != features.pictures()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} labels for {} images", labels->size(), features.pictures()));
  }
  if (labels == nullptr &&
      (FindMethod(options.settings.method).needs_labels || options.unseen_classes)) {
    throw Error(ErrorCode::kInvalidArgument,
                options.settings.method +
                    ": methods that learn from labels, and holding out classes, need the labels of "
                    "the images");
  }
  return Tuner(options, features, labels, context).Run();
}

nlohmann::json WriteConfig(const MethodSettings& settings, const TuneResult& result) {
  nlohmann::json config = {{"method", settings.method},
                           {"chosen_by",
                            {{"criterion", result.criterion},
                             {"score", result.best.score},
                             {"bits", settings.bits},
                             {"candidates", result.trials.size()}}}};
  const Method& method = FindMethod(settings.method);
  for (const auto& [option, value] : result.Chosen(settings).options) {
    config[option] = OptionToJson(*method.FindOption(option), value);
  }
  return config;
}

MethodSettings ReadConfig(const nlohmann::json& config, MethodSettings settings) {
  if (!config.is_object()) {
    throw Error(ErrorCode::kInvalidArgument, "expected a JSON object with constants");
  }
  const auto method = config.find("method");
  if (method != config.end() && *method != settings.method) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("\"method\": these constants are for {}, not for {}", method->dump(),
                            settings.method));
  }
  for (const auto& [key, value] : config.items()) {
    if (key == "chosen_by" || key == "method") continue;
    settings.options.emplace(key, ConfiguredValue(FindMethod(settings.method), key, value));
  }
  return settings;
}

}  // namespace bitpool
