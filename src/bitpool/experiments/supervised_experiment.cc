#include "bitpool/experiments/supervised_experiment.h"

#include <fmt/format.h>

#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/experiments/code_evaluation.h"
#include "bitpool/experiments/machine.h"
#include "bitpool/experiments/paper_figures.h"
#include "bitpool/experiments/remembered_tuning.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/metrics/evaluate.h"
#include "bitpool/report/report.h"
#include "bitpool/training/pooled_vectors.h"
#include "bitpool/training/record_file.h"
#include "bitpool/training/tune.h"

namespace bitpool {
namespace {

constexpr const char* kSeconds = "training_seconds";

// How many times classes are held out to choose constants for others.
constexpr int kClassDraws = 3;

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

// All runs with one split, that of the seed.
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
  MethodSettings ChooseConstants(const MethodSettings& given) const {
    TuneOptions options;
    options.settings = given;
    options.settings.bits = options_.tune_bits;
    options.unseen_classes = options_.setting == SupervisedSetting::kUnseen;
    options.seeds = options.unseen_classes ? kClassDraws : 1;
    // All images are pooled for every μ that is chosen, so methods of vectors stay with those of
    // the grid.
    options.rounds = LearnsPooling(given) ? 1 : 0;
    const FeatureSubset training(*images_.images, split_.training);
    return RememberedTuning(options, training, &training_labels_, options_.figures, context_);
  }

  RunFigures Run(const MethodSettings& settings) {
    const MatrixF& vectors = pooled_.With(ValueOf(settings, "mu"), context_);
    if (LearnsPooling(settings)) MakeRecords();
    const Stopwatch watch;
    const HashModel model = Train(settings, vectors);
    const double seconds = watch.seconds();
    context_.ThrowIfStopped();
    const EncodedVectors encoded = EncodeBatch(*model.encoder, MatrixColumns(vectors), context_);
    const EncodedVectors queries{.codes = Select(encoded.codes, split_.queries),
                                 .projections = encoded.projections(Eigen::all, split_.queries)};
    const CodeEvaluation evaluation = EvaluateBothWays(
        Select(encoded.codes, split_.database), queries, truth_, HashingProtocol(), context_);
    return {.metrics = {{kMap, 100 * evaluation.hamming.mean_ap},
                        {kAsymmetricMap, 100 * evaluation.asymmetric.mean_ap},
                        {kSeconds, seconds}},
            .model = ModelDigest(model)};
  }

 private:
  static bool LearnsPooling(const MethodSettings& settings) {
    return FindMethod(settings.method).learns_from == LearnsFrom::kLocalFeatures;
  }

  HashModel Train(const MethodSettings& settings, const MatrixF& vectors) const {
    const Labels* labels = FindMethod(settings.method).needs_labels ? &training_labels_ : nullptr;
    if (LearnsPooling(settings)) {
      return TrainOnRecords(settings, {.records = *records_, .labels = labels}, context_).model;
    }
    const MatrixF training = vectors(Eigen::all, split_.training);
    const MatrixColumns source(training);
    return TrainOnVectors(settings, {.vectors = source, .labels = labels}, context_).model;
  }

  void MakeRecords() {
    if (records_ != nullptr) return;
    const FeatureSubset training(*images_.images, split_.training);
    records_ = MakeRecordStore(env_, training, PrecisionFor(options_.normalise), options_.memory,
                               options_.scratch);
    ReduceImages(training, options_.normalise, *records_, context_);
  }

  Env& env_;
  const SupervisedOptions& options_;
  const LabelledImages& images_;
  PooledVectors& pooled_;
  const RunContext context_;
  RetrievalSplit split_;
  Labels training_labels_;
  LabelTruth truth_;
  std::unique_ptr<RecordStore> records_;  // of the training images, when a method wants them
};

MethodSettings SettingsOf(const SupervisedOptions& options, const std::string& method) {
  MethodSettings settings = options.SettingsOf(method);
  settings.options["normalise"] = options.normalise ? 1 : 0;
  return settings;
}

class SupervisedRunner : public ComparedTask {
 public:
  SupervisedRunner(Env& env, const SupervisedOptions& options, const LabelledImages& images,
                   const RunContext& context, Experiment& experiment)
      : env_(env),
        options_(options),
        images_(images),
        pooled_(PooledVectors::OfImages(*images.images, options.normalise)),
        experiment_(experiment) {
    pooled_.With(options.mu, context);  // takes long, so with its own progress
  }

  void BeginSeed(const RunContext& seeded) override {
    runner_.reset();  // its records are in the same scratch file
    runner_ = std::make_unique<SplitRunner>(env_, options_, images_, pooled_, seeded);
    experiment_.data["training_images"] = runner_->split().training.size();
    experiment_.data["database_images"] = runner_->split().database.size();
    experiment_.data["queries"] = runner_->split().queries.size();
  }

  MethodSettings SettingsOf(const std::string& method) override {
    MethodSettings settings = bitpool::SettingsOf(options_, method);
    const Method& entry = FindMethod(method);
    if (entry.needs_labels && options_.tune) {
      settings = runner_->ChooseConstants(settings);
      experiment_.settings["tuned"][method].push_back(DescribeConstants(settings));
    }
    if (entry.learns_from == LearnsFrom::kVectors) settings.options.emplace("mu", options_.mu);
    return settings;
  }

  RunFigures Run(const MethodSettings& settings, const RunContext& /*seeded*/) override {
    return runner_->Run(settings);
  }

 private:
  Env& env_;
  const SupervisedOptions& options_;
  const LabelledImages& images_;
  PooledVectors pooled_;
  Experiment& experiment_;
  std::unique_ptr<SplitRunner> runner_;  // of the seed
};

nlohmann::json DescribeConstantsOrDefaults(const SupervisedOptions& options) {
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
  experiment.settings = DescribeComparison(options, context);
  experiment.settings["setting"] = NameOf(options.setting);
  experiment.settings["protocol"] = HashingProtocol().Describe();
  experiment.settings["mu"] = options.mu;
  experiment.settings["local_features"] = options.normalise ? "unit length" : "as they are";
  experiment.settings["constants"] = DescribeConstantsOrDefaults(options);
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
  Comparison::Validate([](const Method& method) {
    return method.needs_labels || method.learns_from == LearnsFrom::kVectors;
  });
  if (!(mu > 0)) throw Error(ErrorCode::kInvalidArgument, "expected a positive mu");
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
          .views = features.views,
          .labels = Labels::Multi(classes),
          .training_part = features.train->size()};
}

LabelledImages WithoutEmptyImages(LabelledImages all, std::vector<std::string>& left_out) {
  std::vector<Index> kept;
  Index training_part = 0;
  for (Index image = 0; image < all.images->size(); ++image) {
    if (all.images->descriptor_count(image) == 0) {
      left_out.push_back(all.images->name(image));
      continue;
    }
    kept.push_back(image);
    if (image < all.training_part) ++training_part;
  }
  if (left_out.empty()) return all;
  all.labels = all.labels.Select(kept);
  all.training_part = training_part;
  const FeatureSet& set = *all.images;
  // The deleter keeps the whole set, which the subset refers to.
  all.images = {new FeatureSubset(set, std::move(kept)),
                [whole = all.images](const FeatureSet* subset) { delete subset; }};
  return all;
}

Experiment RunSupervisedExperiment(Env& env, const SupervisedOptions& options,
                                   const LabelledImages& images, const RunContext& context) {
  options.Validate();
  if (images.images->images_per_picture() != 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "images with views: expected the pictures alone, since a view of what is searched "
                "for must not be learned from");
  }
  if (images.labels.size() != images.images->size()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} labels for {} images", images.labels.size(), images.images->size()));
  }
  if (images.training_part < 0 || images.training_part >= images.labels.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("training part: expected fewer than the {} images, got {}",
                            images.labels.size(), images.training_part));
  }
  Experiment experiment = Describe(options, images, context);
  SupervisedRunner runner(env, options, images, context, experiment);
  RunComparison(options, {kMap, kAsymmetricMap, kSeconds}, runner, context, experiment);
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
         "other sets unless said otherwise; splits are drawn again.";
}

std::string SupervisedReport(const Experiment& experiment) {
  Report report(experiment.title,
                "SASH learns how to aggregate the local features of an image together with a "
                "binary code from which its label can be told; the other methods hash the vectors "
                "of generalised max pooling.");
  report.AddSection("Accuracy");
  report.AddChart(RenderSvg(ChartOf(experiment, kMap, "mAP over the length of the codes",
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
