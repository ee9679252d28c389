#include "bitpool/experiments/supervised_experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "bitpool/hash/feature_encoder.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/metrics/evaluate.h"
#include "bitpool/training/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::TempFolder;

constexpr Index kImages = 120, kScenes = 6, kClasses = 3;

// Classes of two scenes each, which look no more alike than any two scenes: only labels tell.
LabelledImages SmallImages() {
  return {.name = "small",
          .features = "numbers",
          .images = std::make_shared<MemoryFeatureSet>(SmallScenes(kImages, 8, kScenes, 1)),
          .labels = SceneClasses(kImages, kScenes, kClasses)};
}

SupervisedOptions SmallSupervised(std::vector<std::string> methods = {"sash", "itq"}) {
  SupervisedOptions options;
  options.methods = std::move(methods);
  options.bits = {8};
  options.seeds = 1;
  options.split.queries_per_class = 5;
  options.split.training_per_class = 15;
  return options;
}

Experiment RunSmall(const SupervisedOptions& options, const LabelledImages& images,
                    int threads = 1) {
  return RunSupervisedExperiment(Env::Posix(), options, images, RunContext({.threads = threads}));
}

// The one figure; NaN when there is not exactly one.
double SupervisedFigure(const Experiment& experiment, const std::string& method, int bits,
                        const std::string& metric = "mAP") {
  double figure = std::nan("");
  int found = 0;
  for (const ExperimentResult& result : experiment.results) {
    if (result.method != method || result.bits != bits || result.metric != metric) continue;
    figure = result.mean;
    ++found;
  }
  return found == 1 ? figure : std::nan("");
}

TEST(SupervisedExperiment, ImagesWithoutDescriptorsAreLeftOutAndNamed) {
  auto set = std::make_shared<MemoryFeatureSet>(2);
  for (const char* name : {"a", "empty", "c", "d"}) {
    set->Add(name, MatrixF::Ones(2, std::string_view(name) == "empty" ? 0 : 3));
  }
  std::vector<std::string> left_out;
  const LabelledImages images = WithoutEmptyImages({.name = "four",
                                                    .features = "numbers",
                                                    .images = std::move(set),
                                                    .labels = Labels::Single({0, 1, 2, 3}),
                                                    .training_part = 3},
                                                   left_out);
  EXPECT_THAT(left_out, ::testing::ElementsAre("empty"));
  ASSERT_EQ(images.images->size(), 3);
  EXPECT_EQ(images.images->name(1), "c");
  EXPECT_EQ(images.labels.size(), 3);
  EXPECT_EQ(images.labels.of(1)[0], 2);
  EXPECT_EQ(images.training_part, 2);
}

TEST(SupervisedExperiment, HasAFigureForEveryMethodLengthAndMetric) {
  SupervisedOptions options = SmallSupervised(SupervisedOptions().methods);
  ASSERT_EQ(options.methods.size(), 6U);
  options.bits = {4, 8};
  options.seeds = 2;
  for (const auto setting : {SupervisedSetting::kTraditional, SupervisedSetting::kUnseen}) {
    options.setting = setting;
    const Experiment experiment = RunSmall(options, SmallImages());
    EXPECT_EQ(experiment.results.size(), 6U * 2 * 3);
    for (const std::string& method : options.methods) {
      for (const int bits : options.bits) {
        const double map = SupervisedFigure(experiment, method, bits);
        EXPECT_TRUE(map > 20 && map <= 100) << method << " " << bits << " " << map;
        EXPECT_GE(SupervisedFigure(experiment, method, bits, "training_seconds"), 0) << method;
      }
    }
    for (const ExperimentResult& result : experiment.results) EXPECT_EQ(result.seeds, 2);
    const bool traditional = setting == SupervisedSetting::kTraditional;
    EXPECT_EQ(experiment.settings["setting"], traditional ? "traditional" : "unseen");
    // Of three classes of forty images two are seen.
    EXPECT_EQ(experiment.data["queries"], traditional ? 15 : 5);
    EXPECT_EQ(experiment.data["database_images"], traditional ? 105 : 35);
    EXPECT_EQ(experiment.data["training_images"], traditional ? 45 : 30);
    EXPECT_EQ(experiment.data["images"], kImages);
    EXPECT_EQ(experiment.data["dimension"], 8);
  }
}

TEST(SupervisedExperiment, LabelsHelp) {
  const Experiment experiment = RunSmall(SmallSupervised(), SmallImages());
  EXPECT_GT(SupervisedFigure(experiment, "sash", 8), 10 + SupervisedFigure(experiment, "itq", 8));
  EXPECT_GT(SupervisedFigure(experiment, "sash", 8), 80) << "percent; chance is 33";
}

TEST(SupervisedExperiment, IsTheSameAtAnyNumberOfThreads) {
  const SupervisedOptions options = SmallSupervised(SupervisedOptions().methods);
  const Experiment one = RunSmall(options, SmallImages(), 1),
                   two = RunSmall(options, SmallImages(), 2);
  for (const std::string& method : options.methods) {
    EXPECT_EQ(SupervisedFigure(one, method, 8), SupervisedFigure(two, method, 8)) << method;
  }
}

TEST(SupervisedExperiment, EverySeedHasItsOwnSplitAndTheSameOnesRepeat) {
  SupervisedOptions options = SmallSupervised({"itq"});
  const Experiment first = RunSmall(options, SmallImages());
  const Experiment second = RunSupervisedExperiment(Env::Posix(), options, SmallImages(),
                                                    RunContext({.threads = 1, .seed = 2}));
  options.seeds = 2;
  const Experiment both = RunSmall(options, SmallImages());
  EXPECT_NE(SupervisedFigure(first, "itq", 8), SupervisedFigure(second, "itq", 8));
  EXPECT_DOUBLE_EQ(SupervisedFigure(both, "itq", 8),
                   (SupervisedFigure(first, "itq", 8) + SupervisedFigure(second, "itq", 8)) / 2);
}

BinaryCodes Select(const BinaryCodes& codes, const std::vector<Index>& images) {
  BinaryCodes selected(codes.bits());
  for (const Index image : images) selected.Append(codes.code(image));
  return selected;
}

// By hand: the methods learn from the training images of the split and nothing else, and queries
// search the database.
TEST(SupervisedExperiment, TrainsOnTrainingImagesAndSearchesTheDatabase) {
  const LabelledImages images = SmallImages();
  const SupervisedOptions options = SmallSupervised({"sash", "sdh", "itq"});
  const Experiment experiment = RunSmall(options, images);
  const RunContext context({.threads = 1});
  const RetrievalSplit split = SplitTraditional(images.labels, options.split, context.seed());
  const FeatureSubset training(*images.images, split.training);
  const Labels labels = images.labels.Select(split.training);
  for (const std::string& method : options.methods) {
    HashModel model;
    if (method == "sash") {
      SashOptions defaults;
      defaults.joint.bits = 8;
      model = TrainSash(defaults, training, labels, context).model;
    } else {
      const MatrixF vectors =
          PoolImages({Coupling::None(8), {.mu = options.mu}}, true, training, context).vectors;
      const MatrixColumns source(vectors);
      model = TrainOnVectors({.method = method, .bits = 8},
                             {.vectors = source,
                              .labels = FindMethod(method).needs_labels ? &labels : nullptr},
                             context)
                  .model;
      model.pooling = PoolingRecipe{.normalise = true, .mu = options.mu, .gamma = 0};
    }
    const BinaryCodes codes = EncodeImages(model, *images.images, context).codes;
    const LabelTruth truth(images.labels.Select(split.queries),
                           images.labels.Select(split.database));
    const double map = EvaluateCodes(Select(codes, split.database), Select(codes, split.queries),
                                     truth, HashingProtocol(), context)
                           .mean_ap;
    EXPECT_NEAR(SupervisedFigure(experiment, method, 8), 100 * map, 1e-9) << method;
  }
}

// Every image is pooled once, to be encoded; after that only training images are looked at.
TEST(SupervisedExperiment, TrainingAndTuningReadTrainingImagesOnly) {
  LabelledImages images = SmallImages();
  images.labels = SceneClasses(kImages, kScenes, kScenes);  // enough classes to hold out some
  for (const auto setting : {SupervisedSetting::kTraditional, SupervisedSetting::kUnseen}) {
    const auto source = SmallImages().images;
    const auto counting = std::make_shared<CountingFeatureSet>(*source);
    images.images = counting;
    SupervisedOptions options = SmallSupervised({"sash", "sdh", "itq"});
    options.setting = setting;
    options.tune = true;
    options.tune_bits = 6;
    options.constants["sash"].options["mu"] = options.mu;  // so that nothing is pooled with another
    options.constants["sdh"].options["mu"] = options.mu;
    (void)RunSmall(options, images);
    const RetrievalSplit split = setting == SupervisedSetting::kTraditional
                                     ? SplitTraditional(images.labels, options.split, 1)
                                     : SplitUnseenSampled(images.labels, options.split, 1);
    const std::set<Index> training(split.training.begin(), split.training.end());
    for (Index image = 0; image < kImages; ++image) {
      if (training.contains(image)) {
        EXPECT_GT(counting->reads(image), 1) << "image " << image;
      } else {
        EXPECT_EQ(counting->reads(image), 1) << "image " << image;
      }
    }
  }
}

TEST(SupervisedExperiment, RecordsTheConstantsThatWereChosen) {
  SupervisedOptions options = SmallSupervised({"sash"});
  options.seeds = 2;
  options.tune = true;
  options.tune_bits = 6;
  options.constants["sash"].options["mu"] = 50;
  options.constants["sash"].options["gamma"] = 2;
  const Experiment experiment = RunSmall(options, SmallImages());
  const nlohmann::json& tuned = experiment.settings["tuned"]["sash"];
  ASSERT_EQ(tuned.size(), 2U) << "one of each split";
  for (const nlohmann::json& constants : tuned) {
    EXPECT_EQ(constants["mu"], 50);
    EXPECT_EQ(constants["gamma"], 2);
    for (const char* name : {"alpha", "lambda", "beta"}) EXPECT_GT(constants[name], 0) << name;
    EXPECT_FALSE(constants.contains("bits"));
  }
  // What was chosen is what is used: given as constants, the figures are the same.
  SupervisedOptions given = options;
  given.tune = false;
  given.seeds = options.seeds = 1;
  OptionValues& sash = given.constants["sash"].options;
  sash["alpha"] = tuned[0]["alpha"];
  sash["lambda"] = tuned[0]["lambda"];
  sash["beta"] = tuned[0]["beta"];
  const Experiment fixed = RunSmall(given, SmallImages());
  EXPECT_EQ(SupervisedFigure(fixed, "sash", 8),
            SupervisedFigure(RunSmall(options, SmallImages()), "sash", 8));
  EXPECT_FALSE(fixed.settings.contains("tuned"));
  EXPECT_EQ(fixed.settings["constants"]["sash"]["mu"], 50);
}

TEST(SupervisedExperiment, ThePoolingOfTheOthersIsChosenToo) {
  SupervisedOptions options = SmallSupervised({"sdh", "itq"});
  options.seeds = 1;
  options.tune = true;
  options.tune_bits = 6;
  const Experiment experiment = RunSmall(options, SmallImages());
  ASSERT_EQ(experiment.settings["tuned"]["sdh"].size(), 1U);
  EXPECT_FALSE(experiment.settings["tuned"].contains("itq")) << "it does not learn from labels";
  SupervisedOptions given = options;
  given.tune = false;
  given.constants["sdh"].options["mu"] = experiment.settings["tuned"]["sdh"][0]["mu"];
  EXPECT_EQ(SupervisedFigure(RunSmall(given, SmallImages()), "sdh", 8),
            SupervisedFigure(experiment, "sdh", 8));
}

TEST(SupervisedExperiment, RecordsMayBeInAFile) {
  const TempFolder folder;
  SupervisedOptions options = SmallSupervised({"sash"});
  const Experiment in_memory = RunSmall(options, SmallImages());
  options.memory = 1;
  options.scratch = folder / "records";
  EXPECT_EQ(SupervisedFigure(RunSmall(options, SmallImages()), "sash", 8),
            SupervisedFigure(in_memory, "sash", 8));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SupervisedExperiment, ThePapersFiguresAreThoseOfItsSets) {
  LabelledImages images = SmallImages();
  SupervisedOptions options = SmallSupervised({"itq"});
  options.bits = {4, 8};
  const auto paper = [&](const char* name, SupervisedSetting setting) {
    images.name = name;
    options.setting = setting;
    return RunSmall(options, images);
  };
  const Experiment cifar = paper("cifar10", SupervisedSetting::kTraditional);
  EXPECT_EQ(SupervisedFigure(cifar, "sash", 8, "paper_mAP"), 53.57);
  EXPECT_EQ(cifar.settings["paper_table"], "tab:SASH_cifar");
  EXPECT_EQ(cifar.results.size(), 2U * 3 + 5) << "the paper has no codes of 4 bits";
  const Experiment mnist = paper("mnist", SupervisedSetting::kUnseen);
  EXPECT_EQ(SupervisedFigure(mnist, "sdh", 8, "paper_mAP"), 53.64);
  for (const char* name : {"small", "fashion-mnist", "cifar", "cifar_unseen"}) {
    const Experiment other = paper(name, SupervisedSetting::kTraditional);
    EXPECT_FALSE(other.settings.contains("paper_table")) << name;
    EXPECT_EQ(other.results.size(), 6U) << name;
  }
}

TEST(SupervisedExperiment, TheReportHasTheTables) {
  LabelledImages images = SmallImages();
  const std::string small = SupervisedReport(RunSmall(SmallSupervised({"sdh", "itq"}), images));
  EXPECT_THAT(small, HasSubstr("Hashing with labels: small, the classes that were learned"));
  EXPECT_THAT(small, HasSubstr("<svg"));
  EXPECT_THAT(small, HasSubstr("mAP over all results in percent"));
  EXPECT_THAT(small, HasSubstr("Seconds of training"));
  EXPECT_THAT(small, HasSubstr(">sdh<"));
  EXPECT_THAT(small, HasSubstr("8 bits"));
  EXPECT_THAT(small, Not(HasSubstr("figures (tab:")));
  images.name = "cifar10";
  const std::string cifar = SupervisedReport(RunSmall(SmallSupervised({"itq"}), images));
  EXPECT_THAT(cifar, HasSubstr("figures (tab:SASH_cifar)"));
  EXPECT_THAT(cifar, HasSubstr("53.57"));
}

TEST(SupervisedExperiment, ImagesWithSeveralClassesHaveUnseenOnesToo) {
  LabelledImages images = SmallImages();
  std::vector<std::vector<int32_t>> classes;
  for (int32_t i = 0; i < kImages; ++i) {
    classes.push_back({i % 6});
    if (i % 5 == 0) classes.back().push_back((i + 1) % 6);
    if (i % 40 == 7) classes.back().clear();
  }
  images.labels = Labels::Multi(classes);
  SupervisedOptions options = SmallSupervised();
  options.setting = SupervisedSetting::kUnseen;
  const Experiment experiment = RunSmall(options, images);
  const RetrievalSplit split = SplitUnseenSampled(images.labels, options.split, 1);
  EXPECT_EQ(experiment.data["queries"], split.queries.size());
  EXPECT_EQ(experiment.data["database_images"], split.database.size());
  EXPECT_EQ(experiment.data["training_images"], split.training.size());
  EXPECT_GT(SupervisedFigure(experiment, "sash", 8), 0);
  // This cannot be asked of a set with a training and a test part.
  images.training_part = 60;
  EXPECT_THAT(RefusalOf([&] { RunSmall(options, images); }), HasSubstr("one class per image"));
}

TEST(SupervisedExperiment, UnseenClassesOfASetWithPartsAreAskedByItsTestPart) {
  CnnFeatures parts;
  parts.name = "small";
  parts.train = std::make_shared<MemoryFeatureSet>(SmallScenes(90, 8, kScenes, 1));
  parts.test = std::make_shared<MemoryFeatureSet>(SmallScenes(30, 8, kScenes, 2));
  parts.train_labels = SceneClasses(90, kScenes, kClasses);
  parts.test_labels = SceneClasses(30, kScenes, kClasses);
  const LabelledImages images = Labelled(parts);
  EXPECT_EQ(images.training_part, 90);
  ASSERT_EQ(images.images->size(), 120);
  ASSERT_EQ(images.labels.size(), 120);
  EXPECT_EQ(images.images->name(95), "image5");
  EXPECT_EQ(images.labels.of(95).front(), parts.test_labels.of(5).front());
  SupervisedOptions options = SmallSupervised();
  options.setting = SupervisedSetting::kUnseen;
  const Experiment experiment = RunSmall(options, images);
  EXPECT_EQ(experiment.data["queries"], 10);
  EXPECT_EQ(experiment.data["database_images"], 30);
  EXPECT_EQ(experiment.data["training_images"], 60);
}

// Their split would put views of queries among what is learned from and searched.
TEST(SupervisedExperiment, RefusesImagesWithViews) {
  LabelledImages images = SmallImages();
  images.images = std::make_shared<MemoryFeatureSet>(SmallViews(40, 8, 3, 1));
  EXPECT_THAT(RefusalOf([&] { RunSmall(SmallSupervised(), images); }), HasSubstr("with views"));
}

TEST(SupervisedExperiment, RefusesWhatDoesNotFit) {
  LabelledImages images = SmallImages();
  const auto refusal = [&](const SupervisedOptions& options) {
    return RefusalOf([&] { RunSmall(options, images); });
  };
  EXPECT_THAT(refusal(SmallSupervised({"best"})), HasSubstr("\"best\""));
  EXPECT_THAT(refusal(SmallSupervised({"sah"})), HasSubstr("\"sah\""));
  EXPECT_THAT(refusal(SmallSupervised({})), HasSubstr("at least one"));
  SupervisedOptions options = SmallSupervised();
  options.bits = {0};
  EXPECT_THAT(refusal(options), HasSubstr("0 bits"));
  options = SmallSupervised();
  options.mu = 0;
  EXPECT_THAT(refusal(options), HasSubstr("mu"));
  options = SmallSupervised();
  options.split.training_per_class = 1000;
  EXPECT_THAT(refusal(options), HasSubstr("class 0 has 35 images"));
  LabelledImages divided = images;
  divided.training_part = images.labels.size();
  EXPECT_THAT(RefusalOf([&] { RunSmall(SmallSupervised({"sash"}), divided); }),
              HasSubstr("training part: expected fewer than"));
  images.labels = SceneClasses(7, 3, 3);
  EXPECT_THAT(refusal(SmallSupervised()), HasSubstr("7 labels for 120 images"));
  MemoryFeatureSet blank = SmallScenes(kImages - 1, 8, kScenes, 1);
  blank.Add("blank", MatrixF(8, 0));
  images.labels = SmallImages().labels;
  images.images = std::make_shared<MemoryFeatureSet>(blank);
  EXPECT_THAT(refusal(SmallSupervised()), HasSubstr("blank: "));
}

TEST(SupervisedExperiment, CanBeStopped) {
  std::stop_source stop;
  stop.request_stop();
  const RunContext stopped({.threads = 1, .seed = 1, .stop = stop.get_token()});
  testing::ExpectError(ErrorCode::kCancelled, {}, [&] {
    RunSupervisedExperiment(Env::Posix(), SmallSupervised(), SmallImages(), stopped);
  });
}

}  // namespace
}  // namespace bitpool
