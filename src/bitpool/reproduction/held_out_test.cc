// No experiment lets its test data reach training or the choice of constants: with other test
// queries and other test labels all models and constants are the same to the last bit.

#include <gtest/gtest.h>

#include <numeric>

#include "bitpool/experiments/class_retrieval.h"
#include "bitpool/experiments/retrieval_experiment.h"
#include "bitpool/io/testing.h"
#include "bitpool/pictures/picture_testing.h"
#include "bitpool/reproduction/testing.h"
#include "bitpool/samples/retrieval_splits.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::SpottedJpeg;
using testing::TempFolder;
using testing::WriteBytes;

// Models and chosen constants are equal, and at least one figure of the test is not: the other test
// data was really used.
void ExpectSameModels(const FigureStore& a, const FigureStore& b) {
  ASSERT_EQ(a.all().size(), b.all().size());
  ASSERT_FALSE(a.all().empty());
  bool differs = false;
  for (const auto& [key, figures] : a.all()) {
    const RunFigures& other = b.all().at(key);
    EXPECT_EQ(figures.model, other.model) << key.method << " " << key.bits;
    if (key.method.starts_with("tuned")) {
      EXPECT_EQ(figures.metrics, other.metrics) << key.method;
    } else {
      EXPECT_FALSE(figures.model.empty()) << key.method;
      differs |= figures.metrics.at(kMap) != other.metrics.at(kMap);
    }
  }
  EXPECT_TRUE(differs) << "the test data made no difference at all";
}

TEST(HeldOut, VectorsWithoutLabels) {
  const auto run = [](const VectorSet& set) {
    FigureStore figures;
    UnsupervisedOptions options = SmallVectorOptions();
    options.methods = {"rba", "ba", "itq", "kmh", "sph", "pcah", "lsh", "sadh", "graphbit"};
    options.seeds = 1;
    options.figures = &figures;
    RunUnsupervisedExperiment(options, set, RunContext({.threads = 2}));
    return figures;
  };
  VectorSet other = SmallVectors();
  other.test = 3 * Random(5).NormalMatrix(8, 60);
  ExpectSameModels(run(SmallVectors()), run(other));
}

TEST(HeldOut, TheSurfaceOfConstants) {
  VectorSet other = SmallVectors();
  other.test = 3 * Random(5).NormalMatrix(8, 60);
  const RunContext context({.threads = 2});
  EXPECT_EQ(MeasureRbaSurface(SmallVectorOptions(), SmallVectors(), context).values,
            MeasureRbaSurface(SmallVectorOptions(), other, context).values);
}

FigureStore RunSupervised(const LabelledImages& images, SupervisedSetting setting) {
  FigureStore figures;
  SupervisedOptions options = SmallSupervisedOptions();
  options.methods = {"sash", "sdh", "ksh", "bre", "cca-itq"};
  options.setting = setting;
  options.seeds = 1;
  options.tune = true;
  options.tune_bits = 8;
  options.figures = &figures;
  RunSupervisedExperiment(Env::Posix(), options, images, RunContext({.threads = 2}));
  return figures;
}

// All but the training images have other descriptors.
TEST(HeldOut, SupervisedTraditional) {
  const LabelledImages images = SmallLabelledImages();
  const RetrievalSplit split =
      SplitTraditional(images.labels, SmallSupervisedOptions().split, RunContext().seed());
  std::vector<Index> garbled(static_cast<size_t>(images.labels.size()));
  std::iota(garbled.begin(), garbled.end(), Index{0});
  for (const Index image : split.training) std::erase(garbled, image);
  LabelledImages other = images;
  other.images = std::make_shared<GarbledFeatureSet>(images.images, garbled);
  ExpectSameModels(RunSupervised(images, SupervisedSetting::kTraditional),
                   RunSupervised(other, SupervisedSetting::kTraditional));
}

// The test part has other descriptors and other labels.
TEST(HeldOut, SupervisedUnseen) {
  constexpr Index kClasses = 6;  // four are seen, and of these some are held out for `Tune`
  LabelledImages images = SmallLabelledImages();
  images.labels = SceneClasses(images.labels.size(), kClasses, kClasses);
  images.training_part = 90;
  std::vector<Index> test;
  std::vector<std::vector<int32_t>> classes;
  for (Index image = 0; image < images.labels.size(); ++image) {
    const auto of = images.labels.of(image);
    classes.emplace_back(of.begin(), of.end());
    if (image < images.training_part) continue;
    test.push_back(image);
    classes.back() = {static_cast<int32_t>((image / 2) % kClasses)};
  }
  LabelledImages other = images;
  other.images = std::make_shared<GarbledFeatureSet>(images.images, test);
  other.labels = Labels::Multi(classes);
  ExpectSameModels(RunSupervised(images, SupervisedSetting::kUnseen),
                   RunSupervised(other, SupervisedSetting::kUnseen));
}

// The queries have other descriptors, and all labels are other ones: nothing learns from labels.
// Views are of training pictures alone.
TEST(HeldOut, ClassesWithoutLabels) {
  LabelledImages images = SmallLabelledImages();
  images.training_part = 90;
  images.views = std::make_shared<MemoryFeatureSet>(WithSmallChanges(*images.images, 60, 2));
  const auto run = [](const LabelledImages& set) {
    const TempFolder scratch;
    FigureStore figures;
    ClassRetrievalOptions options;
    options.joint.bits = {8};
    options.joint.methods = {"sah", "rba", "itq", "sah+views", "itq+views", "cibhash", "sav"};
    options.joint.seeds = 1;
    options.joint.figures = &figures;
    options.queries = 20;
    options.tune = true;
    options.tune_bits = 8;
    options.scratch = scratch / "records";
    RunClassRetrieval(Env::Posix(), options, set, RunContext({.threads = 2}));
    return figures;
  };
  std::vector<Index> test(30);
  std::iota(test.begin(), test.end(), Index{90});
  LabelledImages other = images;
  other.images = std::make_shared<GarbledFeatureSet>(images.images, test);
  other.labels = SceneClasses(120, 5, 2);
  ExpectSameModels(run(images), run(other));
}

// All pictures of the set that is searched are other pictures.
TEST(HeldOut, Pictures) {
  const TempFolder folder;
  for (uint64_t i = 0; i < 12; ++i) {
    WriteBytes(folder / "train" / fmt::format("{}.jpg", i), SpottedJpeg(i, 64, 48));
  }
  for (uint64_t group = 0; group < 4; ++group) {
    for (uint64_t i = 0; i < 2; ++i) {
      const std::string name = fmt::format("{}.jpg", 100 * group + i + 100);
      WriteBytes(folder / "one" / name, SpottedJpeg(100 + group, 64 + static_cast<Index>(i), 48));
      WriteBytes(folder / "two" / name, SpottedJpeg(200 + 10 * group + i, 64, 48));
    }
  }
  const auto run = [&](const char* pictures) {
    FigureStore figures;
    RetrievalOptions options;
    options.joint.bits = {8};
    options.joint.methods = {"sah", "rba", "itq", "sah+views", "itq+views", "sav"};
    options.joint.seeds = 1;
    options.joint.figures = &figures;
    options.joint.shown = 2;
    options.views.count = 2;
    options.extractor.kind = "dense";
    options.extractor.dense.step = 8;
    options.extractor.dense.bin_sizes = {4};
    options.embedding.anchors = 2;
    options.embedding.dropped = 224;
    options.sample = 2000;
    options.tune = true;
    options.tune_bits = 8;
    options.work = folder / "work";
    RunRetrievalExperiment(Env::Posix(), options,
                           {.name = "holidays",
                            .pictures = folder / pictures,
                            .truth = {},
                            .training = folder / "train"},
                           RunContext({.threads = 2}), [](const std::string&) {});
    return figures;
  };
  const FigureStore one = run("one");
  ExpectSameModels(one, run("two"));
  const std::vector<ShownSearch>& shown = one.all().at({"sah", 8, 1}).shown;
  ASSERT_EQ(shown.size(), 2U);
  EXPECT_EQ(shown[0].query, "100.jpg");
  EXPECT_EQ(shown[0].results.size(), 7U) << "all but the query itself";
}

}  // namespace
}  // namespace bitpool
