#include "bitpool/training/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/sash.h"
#include "bitpool/metrics/evaluate.h"
#include "bitpool/samples/retrieval_splits.h"
#include "bitpool/samples/splits.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/pooled_vectors.h"
#include "bitpool/training/tune_search.h"

namespace bitpool {
namespace {

// What the first refinement multiplies and divides a constant by; each next takes its root.
constexpr double kFirstStep = 3;
// Windows that share no descriptor: those that do reward codes which remember single descriptors.
constexpr double kHalf = 0.5;

// The held-out images: what they search with, what is searched, and the right answers.
class Criterion {
 public:
  Criterion(const FeatureSet& features, const std::vector<Index>& images, bool normalise,
            const Labels* labels, const RunContext& context)
      : queries_(features.dimension()), database_(features.dimension()) {
    std::vector<Index> usable;  // one half searches, the other is to be found
    for (const Index image : images) {
      if (features.descriptor_count(image) > 1) usable.push_back(image);
    }
    if (labels == nullptr) {
      ReduceImages(FeatureSubset(features, usable, 0, kHalf), normalise, queries_, context);
      ReduceImages(FeatureSubset(features, usable, kHalf, 1), normalise, database_, context);
      auto truth = std::make_unique<ListedTruth>(database_.size());
      for (Index image = 0; image < database_.size(); ++image) truth->AddQuery({image});
      truth_ = std::move(truth);
    } else {
      std::vector<Index> asking, asked;
      for (size_t i = 0; i < usable.size(); ++i) (i % 3 == 0 ? asking : asked).push_back(usable[i]);
      ReduceImages(FeatureSubset(features, asking), normalise, queries_, context);
      ReduceImages(FeatureSubset(features, asked), normalise, database_, context);
      truth_ = std::make_unique<LabelTruth>(labels->Select(asking), labels->Select(asked));
    }
  }

  // mAP in percent.
  double Score(const HashModel& model, const RunContext& context) const {
    const PoolingSystem pooling = PoolingOf(model);
    return 100 * EvaluateCodes(Encode(model, pooling, database_, context),
                               Encode(model, pooling, queries_, context), *truth_,
                               HashingProtocol(), context)
                     .mean_ap;
  }

 private:
  static BinaryCodes Encode(const HashModel& model, const PoolingSystem& pooling,
                            const RecordStore& records, const RunContext& context) {
    const MatrixF vectors = PoolRecords(records, pooling, context);
    return EncodeAll(*model.encoder, MatrixColumns(vectors), context);
  }

  MemoryRecords queries_, database_;
  std::unique_ptr<GroundTruth> truth_;
};

// So many of the items, drawn at random; all when there are no more.
std::vector<Index> Draw(const std::vector<Index>& items, Index count, uint64_t seed) {
  if (static_cast<Index>(items.size()) <= count) return items;
  std::vector<Index> drawn;
  for (const Index i : ChooseItems(static_cast<Index>(items.size()), count, seed).chosen) {
    drawn.push_back(items[static_cast<size_t>(i)]);
  }
  return drawn;
}

class Tuner {
 public:
  Tuner(const TuneOptions& options, const FeatureSet& features, const Labels* labels,
        const RunContext& context)
      : options_(options),
        method_(FindMethod(options.settings.method)),
        context_(context),
        split_(HoldOut(options, features, labels, context)),
        records_(features.dimension()),
        criterion_(features, split_.chosen, Normalises(options), labels, context.WithoutProgress()),
        search_(method_.tune, options_.settings.options),
        trainer_(records_, &labels_) {
    const std::vector<Index> training = Draw(split_.rest, options.training, context.seed());
    const FeatureSubset images(features, training);
    ReduceImages(images, Normalises(options), records_, context);
    if (method_.needs_labels) labels_ = LabelsOfRecords(images, labels->Select(training));
  }

  TuneResult Run() {
    TuneResult result;
    const OptionValues values = method_.values(options_.settings);
    for (const std::string_view option : method_.tune.Options()) {
      result.best.constants[std::string(option)] = values.find(option)->second;
    }
    for (const TunePlan::Stage& stage : method_.tune.stages) {
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
  static bool Normalises(const TuneOptions& options) {
    return ValueOf(options.settings, "normalise") != 0;
  }

  static Split HoldOut(const TuneOptions& options, const FeatureSet& features, const Labels* labels,
                       const RunContext& context) {
    const Index held_out = std::min(options.validation, features.size() / 3);
    if (held_out < 2) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} images are too few to hold some out: expected 6 or more",
                              features.size()));
    }
    if (!options.unseen_classes) return ChooseItems(features.size(), held_out, context.seed());
    const RetrievalSplit classes = SplitUnseenSampled(
        *labels, {.queries_per_class = 1, .training_per_class = 0}, context.seed());
    Split split{.chosen = classes.database, .rest = classes.training};
    split.chosen = Draw(split.chosen, held_out, context.seed());
    return split;
  }

  void TryAll(const std::vector<OptionValues>& candidates, const char* task, TuneResult& result) {
    Progress progress = context_.StartProgress(task, "candidates", candidates.size());
    for (const OptionValues& candidate : candidates) {
      TuneTrial trial{.constants = candidate};
      for (int run = 0; run < options_.seeds; ++run) {
        const RunContext seeded =
            context_.WithoutProgress().WithSeed(context_.seed() + static_cast<uint64_t>(run));
        trial.score += criterion_.Score(Train(candidate, seeded), seeded) / options_.seeds;
        context_.ThrowIfStopped();
      }
      if (result.trials.empty() || trial.score > result.best.score) result.best = trial;
      result.trials.push_back(std::move(trial));
      progress.Advance();
    }
  }

  HashModel Train(const OptionValues& candidate, const RunContext& context) {
    MethodSettings settings = options_.settings;
    for (const auto& [option, value] : candidate) settings.options[option] = value;
    return trainer_.Train(settings, context);
  }

  const TuneOptions& options_;
  const Method& method_;
  RunContext context_;
  Split split_;
  MemoryRecords records_;  // of the images to learn from
  Labels labels_;          // theirs, where they are learned from
  Criterion criterion_;
  TuneSearch search_;
  RecordTrainer trainer_;
};

}  // namespace

void TuneOptions::Validate() const {
  RequireBits(settings.bits);
  const Method& method = FindMethod(settings.method);
  if (!HasTuning(method)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("method \"{}\": only {} have constants to tune", settings.method,
                            fmt::join(MethodNames(HasTuning), ", ")));
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

double TuneTrial::ValueOf(std::string_view constant) const {
  const auto found = constants.find(constant);
  return found == constants.end() ? 0 : found->second;
}

MethodSettings TuneResult::Chosen(const MethodSettings& settings) const {
  MethodSettings chosen = settings;
  for (const std::string_view option : FindMethod(settings.method).tune.Options()) {
    chosen.options[std::string(option)] = best.ValueOf(option);
  }
  return chosen;
}

std::vector<std::string> TunedConstants() {
  std::vector<std::string> all;
  for (const Method& method : Methods()) {
    for (const std::string_view option : method.tune.Options()) {
      if (std::ranges::find(all, option) == all.end()) all.emplace_back(option);
    }
  }
  return all;
}

TuneResult Tune(const TuneOptions& options, const FeatureSet& features, const Labels* labels,
                const RunContext& context) {
  options.Validate();
  if (labels != nullptr && labels->size() != features.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} labels for {} images", labels->size(), features.size()));
  }
  if (labels == nullptr &&
      (FindMethod(options.settings.method).needs_labels || options.unseen_classes)) {
    throw Error(ErrorCode::kInvalidArgument,
                options.settings.method +
                    ": methods that learn from labels, and holding out classes, need the labels of "
                    "the images");
  }
  TuneResult result = Tuner(options, features, labels, context).Run();
  if (labels == nullptr) {
    result.criterion = "mAP of finding the other half of a held-out image";
  } else {
    result.criterion = options.unseen_classes
                           ? "mAP of finding images of the same class, of classes held out"
                           : "mAP of finding held-out images of the same class";
  }
  return result;
}

nlohmann::json WriteConfig(const MethodSettings& settings, const TuneResult& result) {
  nlohmann::json config = {{"method", settings.method},
                           {"chosen_by",
                            {{"criterion", result.criterion},
                             {"score", result.best.score},
                             {"bits", settings.bits},
                             {"candidates", result.trials.size()}}}};
  for (const std::string_view option : FindMethod(settings.method).tune.Options()) {
    config[std::string(option)] = result.best.ValueOf(option);
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
  std::vector<std::string> constants;
  for (const OptionDescription& option : FindMethod(settings.method).options) {
    if (option.type == OptionType::kReal) constants.push_back(option.name);
  }
  for (const auto& [key, value] : config.items()) {
    if (key == "chosen_by" || key == "method") continue;
    if (std::ranges::find(constants, key) == constants.end() || !value.is_number()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("\"{}\": expected method, or one of the constants of {} with a "
                              "number: {}",
                              key, settings.method, fmt::join(constants, ", ")));
    }
    settings.options.emplace(key, value.get<double>());
  }
  return settings;
}

}  // namespace bitpool
