#include "bitpool/training/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/sah.h"
#include "bitpool/hash/sash.h"
#include "bitpool/metrics/evaluate.h"
#include "bitpool/samples/retrieval_splits.h"
#include "bitpool/samples/splits.h"

namespace bitpool {
namespace {

// The coarse grid. λ and β/λ are in the scale of one unit of variance per bit.
const std::vector<double> kLambdas = {0.01, 0.1};
const std::vector<double> kRidges = {0.0005, 0.005, 0.05};
const std::vector<double> kGammas = {1, 3, 10};
const std::vector<double> kMus = {1, 10, 100};
// Those of SASH; γ and μ over the paper's ranges (section VII).
const std::vector<double> kSupervisedGammas = {0.1, 1, 10};
const std::vector<double> kSupervisedMus = {10, 100, 1000, 1e4, 1e5};
const std::vector<double> kSupervisedLambdas = {1e-4, 1e-3, 1e-2};
const std::vector<double> kSupervisedRidges = {1e-3, 1e-2, 1e-1};
const std::vector<double> kAlphas = {0.01, 0.03, 0.1, 0.3, 1};
// What the first refinement multiplies and divides a constant by; each next takes its root.
constexpr double kFirstStep = 3;
// Windows that share no descriptor: those that do reward codes which remember single descriptors.
constexpr double kHalf = 0.5;

// SDH, KSH, BRE and CCA-ITQ: they keep their authors' settings, and only the pooling of what they
// hash is chosen.
bool HasPoolingOnly(const std::string& method) { return NeedsLabels(method) && method != "sash"; }

// The held-out images: what is asked, what is searched, and the right answers.
class Criterion {
 public:
  Criterion(const FeatureSet& features, const std::vector<Index>& images, bool normalise,
            const Labels* labels, const RunContext& context)
      : queries_(features.dimension()), database_(features.dimension()) {
    std::vector<Index> usable;  // one half asks, the other is to be found
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

class Tuner {
 public:
  Tuner(const TuneOptions& options, const FeatureSet& features, const Labels* labels,
        const RunContext& context)
      : options_(options),
        context_(context),
        pooling_only_(HasPoolingOnly(options.settings.method)),
        joint_(options.settings.method != "rba" && !pooling_only_),
        supervised_(options.settings.method == "sash"),
        split_(HoldOut(options, features, labels, context)),
        records_(features.dimension()),
        criterion_(features, split_.chosen, options.settings.normalise, labels,
                   context.WithoutProgress()) {
    std::vector<Index> training = split_.rest;
    if (static_cast<Index>(training.size()) > options.training) {
      std::vector<Index> chosen;
      for (const Index i :
           ChooseItems(static_cast<Index>(training.size()), options.training, context.seed())
               .chosen) {
        chosen.push_back(training[static_cast<size_t>(i)]);
      }
      training = std::move(chosen);
    }
    const FeatureSubset images(features, training);
    ReduceImages(images, options.settings.normalise, records_, context);
    if (NeedsLabels(options.settings.method))
      labels_ = LabelsOfRecords(images, labels->Select(training));
  }

  TuneResult Run() {
    TuneResult result;
    for (const Stage& stage : Stages()) TryAll(stage(result.best), "coarse grid", result);
    double step = kFirstStep;
    for (int round = 0; round < options_.rounds; ++round) {
      TryAll(Around(result.best, step), "refining", result);
      step = std::sqrt(step);
    }
    return result;
  }

 private:
  // Candidates, out of the best so far.
  using Stage = std::function<std::vector<TuneTrial>(const TuneTrial& best)>;

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
    const auto found = static_cast<Index>(split.chosen.size());
    if (found > held_out) {
      std::vector<Index> some;
      for (const Index i : ChooseItems(found, held_out, context.seed()).chosen) {
        some.push_back(split.chosen[static_cast<size_t>(i)]);
      }
      split.chosen = std::move(some);
    }
    return split;
  }

  // The values of a constant to try: the one that is set, or all.
  static std::vector<double> Values(const std::optional<double>& set,
                                    const std::vector<double>& all) {
    return set ? std::vector<double>{*set} : all;
  }

  std::vector<Stage> Stages() const {
    if (pooling_only_) return {[this](const TuneTrial&) { return MuGrid(); }};
    if (!supervised_) return {[this](const TuneTrial&) { return MakeGrid(); }};
    return {[this](const TuneTrial&) { return PoolingGrid(); },
            [this](const TuneTrial& best) { return HashingGrid(best); },
            [this](const TuneTrial& best) { return MappingGrid(best); }};
  }

  std::vector<TuneTrial> MuGrid() const {
    std::vector<TuneTrial> grid;
    for (const double mu : Values(options_.settings.mu, kSupervisedMus)) grid.push_back({.mu = mu});
    return grid;
  }

  // SASH: γ and μ, with the other constants as they are set or by default.
  std::vector<TuneTrial> PoolingGrid() const {
    const SashOptions defaults = SashOptionsFrom(options_.settings);
    std::vector<TuneTrial> grid;
    for (const double mu : Values(options_.settings.mu, kSupervisedMus)) {
      for (const double gamma : Values(options_.settings.gamma, kSupervisedGammas)) {
        grid.push_back({.lambda = defaults.joint.rba.lambda,
                        .beta = defaults.joint.rba.beta,
                        .gamma = gamma,
                        .mu = mu,
                        .alpha = defaults.alpha});
      }
    }
    return grid;
  }

  std::vector<TuneTrial> HashingGrid(const TuneTrial& best) const {
    std::vector<TuneTrial> grid;
    for (const double lambda : Values(options_.settings.lambda, kSupervisedLambdas)) {
      for (const double ridge : RidgesFor(lambda, kSupervisedRidges)) {
        grid.push_back(best);
        grid.back().lambda = lambda;
        grid.back().beta = lambda * ridge;
      }
    }
    return grid;
  }

  std::vector<TuneTrial> MappingGrid(const TuneTrial& best) const {
    std::vector<TuneTrial> grid;
    for (const double alpha : Values(options_.settings.alpha, kAlphas)) {
      grid.push_back(best);
      grid.back().alpha = alpha;
    }
    return grid;
  }

  // β/λ: that of the β which is set, or all.
  std::vector<double> RidgesFor(double lambda, const std::vector<double>& all) const {
    const std::optional<double>& beta = options_.settings.beta;
    return beta ? std::vector<double>{*beta / lambda} : all;
  }

  std::vector<TuneTrial> MakeGrid() const {
    const HashSettings& set = options_.settings;
    const std::vector<double> gammas = joint_ ? Values(set.gamma, kGammas) : std::vector<double>{0};
    std::vector<TuneTrial> grid;
    for (const double mu : Values(set.mu, kMus)) {
      for (const double lambda : Values(set.lambda, kLambdas)) {
        for (const double ridge : RidgesFor(lambda, kRidges)) {
          for (const double gamma : gammas) {
            grid.push_back({.lambda = lambda, .beta = lambda * ridge, .gamma = gamma, .mu = mu});
          }
        }
      }
    }
    return grid;
  }

  // Each constant that is not set, a step up and down.
  std::vector<TuneTrial> Around(const TuneTrial& best, double step) const {
    const HashSettings& set = options_.settings;
    std::vector<TuneTrial> trials;
    for (const double factor : {1 / step, step}) {
      TuneTrial trial = best;
      trial.lambda *= factor;
      if (!set.beta) trial.beta *= factor;  // λ alone, at the same ridge of the encoder
      if (!pooling_only_ && !set.lambda) trials.push_back(trial);
      trial = best;
      trial.beta *= factor;
      if (!pooling_only_ && !set.beta) trials.push_back(trial);
      trial = best;
      trial.gamma *= factor;
      if (joint_ && !set.gamma) trials.push_back(trial);
      trial = best;
      trial.mu *= factor;
      if (!set.mu) trials.push_back(trial);
      trial = best;
      trial.alpha *= factor;
      if (supervised_ && !set.alpha) trials.push_back(trial);
    }
    return trials;
  }

  void TryAll(const std::vector<TuneTrial>& trials, const char* task, TuneResult& result) {
    Progress progress = context_.StartProgress(task, "candidates", trials.size());
    for (TuneTrial trial : trials) {
      trial.score = 0;
      for (int run = 0; run < options_.seeds; ++run) {
        const RunContext seeded =
            context_.WithoutProgress().WithSeed(context_.seed() + static_cast<uint64_t>(run));
        trial.score += criterion_.Score(Train(trial, seeded), seeded) / options_.seeds;
        context_.ThrowIfStopped();
      }
      if (result.trials.empty() || trial.score > result.best.score) result.best = trial;
      result.trials.push_back(trial);
      progress.Advance();
    }
  }

  HashModel Train(const TuneTrial& trial, const RunContext& context) {
    HashSettings settings = options_.settings;
    if (!pooling_only_) {
      settings.lambda = trial.lambda;
      settings.beta = trial.beta;
    }
    if (joint_) {
      settings.gamma = trial.gamma;
      settings.mu = trial.mu;
      if (supervised_) {
        settings.alpha = trial.alpha;
        return TrainSash(SashOptionsFrom(settings), records_, labels_, context).model;
      }
      return TrainSah(SahOptionsFrom(settings), records_, context).model;
    }
    auto& vectors = vectors_[trial.mu];
    if (vectors.size() == 0) {
      vectors =
          PoolRecords(records_, {Coupling::None(records_.dimension()), {.mu = trial.mu}}, context);
    }
    const MatrixColumns source(vectors);
    HashModel model = pooling_only_ ? TrainHash(settings, source, labels_, context).model
                                    : TrainHash(settings, source, context).model;
    model.pooling = PoolingRecipe{.normalise = settings.normalise, .mu = trial.mu, .gamma = 0};
    return model;
  }

  TuneOptions options_;
  RunContext context_;
  bool pooling_only_;
  bool joint_;       // SAH or SASH
  bool supervised_;  // SASH
  Split split_;
  MemoryRecords records_;  // of the images to learn from
  Labels labels_;          // theirs, where they are learned from
  Criterion criterion_;
  std::map<double, MatrixF> vectors_;  // their GMP vectors, by μ
};

}  // namespace

void TuneOptions::Validate() const {
  RequireBits(settings.bits);
  if (settings.method != "sah" && settings.method != "rba" && !NeedsLabels(settings.method)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("method \"{}\": only sah, rba and the methods that learn from labels "
                            "have constants to tune",
                            settings.method));
  }
  if (settings.paper) {
    throw Error(ErrorCode::kInvalidArgument,
                "the paper's preset is literal: its constants are not tuned");
  }
  if (training < 2 || validation < 2 || seeds < 1 || rounds < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected at least 2 images to learn from and 2 to ask with, and 1 seed");
  }
}

HashSettings TuneResult::Chosen(const HashSettings& settings) const {
  HashSettings chosen = settings;
  chosen.mu = best.mu;
  if (HasPoolingOnly(settings.method)) return chosen;
  chosen.lambda = best.lambda;
  chosen.beta = best.beta;
  if (settings.method != "rba") chosen.gamma = best.gamma;
  if (settings.method == "sash") chosen.alpha = best.alpha;
  return chosen;
}

TuneResult Tune(const TuneOptions& options, const FeatureSet& features, const Labels* labels,
                const RunContext& context) {
  options.Validate();
  if (labels != nullptr && labels->size() != features.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} labels for {} images", labels->size(), features.size()));
  }
  if (labels == nullptr && (NeedsLabels(options.settings.method) || options.unseen_classes)) {
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

nlohmann::json WriteConfig(const HashSettings& settings, const TuneResult& result) {
  const HashSettings chosen = result.Chosen(settings);
  nlohmann::json config = {{"method", chosen.method},
                           {"mu", *chosen.mu},
                           {"chosen_by",
                            {{"criterion", result.criterion},
                             {"score", result.best.score},
                             {"bits", chosen.bits},
                             {"candidates", result.trials.size()}}}};
  if (chosen.lambda) config["lambda"] = *chosen.lambda;
  if (chosen.beta) config["beta"] = *chosen.beta;
  if (chosen.gamma) config["gamma"] = *chosen.gamma;
  if (chosen.alpha) config["alpha"] = *chosen.alpha;
  return config;
}

HashSettings ReadConfig(const nlohmann::json& config, HashSettings settings) {
  const std::map<std::string, std::optional<double>*> constants = {{"lambda", &settings.lambda},
                                                                   {"beta", &settings.beta},
                                                                   {"gamma", &settings.gamma},
                                                                   {"alpha", &settings.alpha},
                                                                   {"mu", &settings.mu}};
  if (!config.is_object()) {
    throw Error(ErrorCode::kInvalidArgument, "expected a JSON object with constants");
  }
  for (const auto& [key, value] : config.items()) {
    if (key == "chosen_by") continue;
    if (key == "method") {
      if (value != settings.method) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("\"method\": these constants are for {}, not for {}", value.dump(),
                                settings.method));
      }
      continue;
    }
    const auto constant = constants.find(key);
    if (constant == constants.end() || !value.is_number()) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("\"{}\": expected method, or lambda, beta, gamma, alpha or mu with a number",
                      key));
    }
    if (!*constant->second) *constant->second = value.get<double>();
  }
  return settings;
}

}  // namespace bitpool
