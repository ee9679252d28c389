#include "bitpool/experiments/supervised_experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/experiments/code_evaluation.h"
#include "bitpool/experiments/machine.h"
#include "bitpool/experiments/paper_figures.h"
#include "bitpool/experiments/remembered_tuning.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/sash.h"
#include "bitpool/metrics/evaluate.h"
#include "bitpool/report/report.h"
#include "bitpool/training/record_file.h"
#include "bitpool/training/tune.h"

namespace bitpool {
namespace {

constexpr const char* kSeconds = "training_seconds";

const char* NameOf(SupervisedSetting setting) {
  return setting == SupervisedSetting::kTraditional ? "traditional" : "unseen";
}

RetrievalSplit MakeSplit(const SupervisedOptions& options, const LabelledImages& images,
                         uint64_t seed) {
  if (options.setting == SupervisedSetting::kTraditional) {
    return SplitTraditional(images.labels, options.split, seed);
  }
  if (images.training_part == 0) return SplitUnseenSampled(images.labels, options.split, seed);
  std::vector<Index> train, test;
  for (Index image = 0; image < images.labels.size(); ++image) {
    (image < images.training_part ? train : test).push_back(image);
  }
  return SplitUnseen(images.labels.Select(train), images.labels.Select(test), options.split, seed);
}

BinaryCodes Select(const BinaryCodes& codes, const std::vector<Index>& images) {
  BinaryCodes selected(codes.bits());
  for (const Index image : images) selected.Append(codes.code(image));
  return selected;
}

// GMP vectors of all images, made once for each μ.
class PooledVectors {
 public:
  PooledVectors(const LabelledImages& images, bool normalise)
      : images_(*images.images), normalise_(normalise) {}

  const MatrixF& With(double mu, const RunContext& context) {
    MatrixF& vectors = by_mu_[mu];
    if (vectors.size() > 0) return vectors;
    PooledImages pooled =
        PoolImages({Coupling::None(images_.dimension()), {.mu = mu}}, normalise_, images_, context);
    if (!pooled.failed.empty()) {
      const FailedImage& failed = pooled.failed.front();
      throw Error(ErrorCode::kInvalidArgument, images_.name(failed.image), failed.reason);
    }
    vectors = std::move(pooled.vectors);
    return vectors;
  }

 private:
  const FeatureSet& images_;
  bool normalise_;
  std::map<double, MatrixF> by_mu_;
};

// All runs with one split.
class SplitRunner {
 public:
  SplitRunner(Env& env, const SupervisedOptions& options, const LabelledImages& images,
              PooledVectors& pooled, const RunContext& context)
      : env_(env),
        options_(options),
        images_(images),
        pooled_(pooled),
        context_(context),
        split_(MakeSplit(options, images, context.seed())),
        training_labels_(images.labels.Select(split_.training)),
        truth_(images.labels.Select(split_.queries), images.labels.Select(split_.database)) {}

  const RetrievalSplit& split() const { return split_; }

  // Constants from the training images of the split alone.
  HashSettings ChooseConstants(const HashSettings& given) const {
    TuneOptions options;
    options.settings = given;
    options.settings.bits = options_.tune_bits;
    options.seeds = 1;
    // All images are pooled for every μ that is chosen, so the others stay with those of the grid.
    options.rounds = given.method == "sash" ? 1 : 0;
    options.unseen_classes = options_.setting == SupervisedSetting::kUnseen;
    const FeatureSubset training(*images_.images, split_.training);
    HashSettings chosen =
        RememberedTuning(options, training, &training_labels_, options_.figures, context_);
    chosen.bits = given.bits;
    return chosen;
  }

  RunFigures Run(const HashSettings& settings) {
    const MatrixF& vectors = pooled_.With(MuOf(settings), context_);
    if (settings.method == "sash") MakeRecords();
    const Stopwatch watch;
    const HashModel model = Train(settings, vectors);
    const double seconds = watch.seconds();
    context_.ThrowIfStopped();
    const BinaryCodes codes = EncodeAll(*model.encoder, MatrixColumns(vectors), context_);
    const CodeEvaluation evaluation =
        EvaluateBothWays(model, Select(codes, split_.database), vectors(Eigen::all, split_.queries),
                         truth_, HashingProtocol(), context_);
    return {.metrics = {{kMap, 100 * evaluation.hamming.mean_ap},
                        {kAsymmetricMap, 100 * evaluation.asymmetric.mean_ap},
                        {kSeconds, seconds}},
            .model = ModelDigest(model)};
  }

 private:
  double MuOf(const HashSettings& settings) const {
    return settings.method == "sash" ? SashOptionsFrom(settings).joint.mu
                                     : settings.mu.value_or(options_.mu);
  }

  HashModel Train(const HashSettings& settings, const MatrixF& vectors) const {
    if (settings.method == "sash") {
      return TrainSash(SashOptionsFrom(settings), *records_, training_labels_, context_).model;
    }
    const MatrixF training = vectors(Eigen::all, split_.training);
    const MatrixColumns source(training);
    return NeedsLabels(settings.method)
               ? TrainHash(settings, source, training_labels_, context_).model
               : TrainHash(settings, source, context_).model;
  }

  void MakeRecords() {
    if (records_ != nullptr) return;
    const FeatureSubset training(*images_.images, split_.training);
    records_ = MakeRecordStore(env_, training, options_.memory, options_.scratch);
    ReduceImages(training, options_.normalise, *records_, context_);
  }

  Env& env_;
  const SupervisedOptions& options_;
  const LabelledImages& images_;
  PooledVectors& pooled_;
  const RunContext& context_;
  RetrievalSplit split_;
  Labels training_labels_;
  LabelTruth truth_;
  std::unique_ptr<RecordStore> records_;  // of the training images, when SASH wants them
};

HashSettings SettingsOf(const SupervisedOptions& options, const std::string& method) {
  const auto found = options.constants.find(method);
  HashSettings settings = found == options.constants.end() ? HashSettings() : found->second;
  settings.method = method;
  settings.normalise = options.normalise;
  return settings;
}

nlohmann::json DescribeConstants(const HashSettings& settings) {
  nlohmann::json constants = DescribeSettings(settings, 0);
  for (const char* key : {"method", "bits", "preset", "seed", "normalise"}) constants.erase(key);
  return constants;
}

nlohmann::json DescribeAllConstants(const SupervisedOptions& options) {
  nlohmann::json all = nlohmann::json::object();
  for (const std::string& method : options.methods) {
    const nlohmann::json constants = DescribeConstants(SettingsOf(options, method));
    all[method] = constants.empty() ? nlohmann::json("defaults") : constants;
  }
  return all;
}

Experiment Describe(const SupervisedOptions& options, const LabelledImages& images,
                    const RunContext& context) {
  Experiment experiment;
  experiment.name = "supervised";
  experiment.title = fmt::format("Hashing with labels: {}, {}", images.name,
                                 options.setting == SupervisedSetting::kTraditional
                                     ? "the classes that were learned"
                                     : "classes that were never seen");
  experiment.settings = {{"setting", NameOf(options.setting)},
                         {"methods", options.methods},
                         {"bits", options.bits},
                         {"seeds", options.seeds},
                         {"first_seed", context.seed()},
                         {"protocol", HashingProtocol().Describe()},
                         {"mu", options.mu},
                         {"local_features", options.normalise ? "unit length" : "as they are"},
                         {"constants", DescribeAllConstants(options)}};
  experiment.data = {{"set", images.name},
                     {"features", images.features},
                     {"images", images.images->size()},
                     {"dimension", images.images->dimension()}};
  experiment.machine = DescribeMachine(FactsOfThisMachine(context));
  return experiment;
}

// The paper's table for this set and setting, if it has one.
const PaperTable* PaperTableFor(const SupervisedOptions& options, const std::string& set) {
  if (set != "cifar10" && set != "mnist") return nullptr;
  const std::string name = set == "cifar10" ? "cifar" : set;
  return FindPaperTable(fmt::format(
      "tab:SASH_{}{}", name, options.setting == SupervisedSetting::kTraditional ? "" : "_unseen"));
}

}  // namespace

void SupervisedOptions::Validate() const {
  split.Validate();
  RequireBits(tune_bits);
  for (const int length : bits) RequireBits(length);
  std::vector<std::string_view> known;
  for (const auto* list : {&SupervisedMethods(), &VectorMethods()}) {
    for (const HashMethod& method : *list) known.push_back(method.name);
  }
  for (const std::string& method : methods) {
    if (std::ranges::find(known, method) != known.end()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("method \"{}\": expected one of {}", method, fmt::join(known, ", ")));
  }
  if (bits.empty() || methods.empty() || seeds < 1 || !(mu > 0)) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected at least one code length, method and seed, and a positive mu");
  }
}

LabelledImages Labelled(const CnnFeatures& features) {
  std::vector<std::vector<int32_t>> classes;
  for (const Labels* part : {&features.train_labels, &features.test_labels}) {
    for (Index image = 0; image < part->size(); ++image) {
      const auto of = part->of(image);
      classes.emplace_back(of.begin(), of.end());
    }
  }
  return {.name = features.name,
          .features = features.features,
          .images = std::make_shared<JoinedFeatureSet>(
              std::vector<std::shared_ptr<const FeatureSet>>{features.train, features.test}),
          .labels = Labels::Multi(classes),
          .training_part = features.train->size()};
}

Experiment RunSupervisedExperiment(Env& env, const SupervisedOptions& options,
                                   const LabelledImages& images, const RunContext& context) {
  options.Validate();
  if (images.labels.size() != images.images->size()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} labels for {} images", images.labels.size(), images.images->size()));
  }
  Experiment experiment = Describe(options, images, context);
  PooledVectors pooled(images, options.normalise);
  std::map<std::tuple<std::string, int, std::string>, std::vector<double>> figures;
  pooled.With(options.mu, context);  // takes long, so with its own progress
  Progress progress = context.StartProgress(
      "comparing", "runs",
      options.methods.size() * options.bits.size() * static_cast<size_t>(options.seeds));
  for (int run = 0; run < options.seeds; ++run) {
    const RunContext seeded =
        context.WithSeed(context.seed() + static_cast<uint64_t>(run)).WithoutProgress();
    SplitRunner runner(env, options, images, pooled, seeded);
    experiment.data["training_images"] = runner.split().training.size();
    experiment.data["database_images"] = runner.split().database.size();
    experiment.data["queries"] = runner.split().queries.size();
    for (const std::string& method : options.methods) {
      HashSettings settings = SettingsOf(options, method);
      if (NeedsLabels(method) && options.tune) {
        settings = runner.ChooseConstants(settings);
        experiment.settings["tuned"][method].push_back(DescribeConstants(settings));
      }
      for (const int bits : options.bits) {
        settings.bits = bits;
        const RunFigures found = FindOrMake(options.figures, {method, bits, seeded.seed()},
                                            [&] { return runner.Run(settings); });
        for (const auto& [metric, figure] : found.metrics) {
          figures[{method, bits, metric}].push_back(figure);
        }
        progress.Advance();
      }
    }
  }
  for (const std::string& method : options.methods) {
    for (const int bits : options.bits) {
      for (const char* metric : {kMap, kAsymmetricMap, kSeconds}) {
        experiment.results.push_back(
            SummariseRuns(method, bits, metric, figures[{method, bits, metric}]));
      }
    }
  }
  if (const PaperTable* table = PaperTableFor(options, images.name)) {
    const std::vector<ExperimentResult> printed = PaperResults(*table, options.bits);
    experiment.results.insert(experiment.results.end(), printed.begin(), printed.end());
    experiment.settings["paper_table"] = table->label;
  }
  return experiment;
}

std::string SupervisedDifferences() {
  return "The paper's features are those of VGG-16, ours those of the network named below; the "
         "paper trains on the whole database of MNIST, we on as many images per class as for the "
         "other sets unless said otherwise; splits are drawn anew.";
}

std::string SupervisedReport(const Experiment& experiment) {
  Report report(experiment.title,
                "SASH learns how to aggregate the local features of an image together with a "
                "binary code from which its label can be told; the other methods hash the vectors "
                "of generalised max pooling.");
  report.AddSection("Accuracy");
  report.AddFigure(RenderSvg(ChartOf(experiment, kMap, "mAP over the length of the codes",
                                     "mAP, percent", {"sash"})),
                   "Mean over the seeds; bars show the standard deviation.");
  AddMapTable(experiment,
              "mAP over all results in percent, mean ± standard deviation over the seeds", report);
  if (experiment.settings.contains("paper_table")) {
    ReportTable paper = TableOf(experiment, "paper_mAP", "{:.2f}", true);
    paper.caption = "The paper's figures (" +
                    experiment.settings["paper_table"].get<std::string>() + "). " +
                    SupervisedDifferences();
    report.AddTable(paper);
  }
  report.AddSection("Training time");
  ReportTable seconds = TableOf(experiment, kSeconds, "{:.2f}", false);
  seconds.caption = "Seconds of training, after the images were reduced and pooled";
  report.AddTable(seconds);
  AddHowItWasMeasured(experiment, report);
  return report.Html();
}

}  // namespace bitpool
