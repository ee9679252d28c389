#include "bitpool/training/feature_training.h"

#include <gtest/gtest.h>

#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/testing.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/model_file.h"
#include "bitpool/training/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

FeatureTraining Job(const TempFolder& folder, const char* method = "sah") {
  FeatureTraining training;
  training.settings.method = method;
  training.settings.bits = 6;
  if (std::string_view(method) == "sah") training.settings.options["gamma"] = 1;
  training.output = folder / "m.bpm";
  return training;
}

size_t FilesIn(const TempFolder& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

// What is left when the model is saved and the training over.
size_t FilesLeft(const TempFolder& folder) {
  RemoveCheckpoint(Env::Posix(), folder / "m.bpm");
  return FilesIn(folder);
}

TEST(FeatureTraining, EveryMethodLearnsFromLocalFeatures) {
  const MemoryFeatureSet images = SmallScenes(150, 10, 10, 1);
  const Labels labels = SceneClasses(150, 10, 5);
  for (const Method& method : Methods()) {
    if (method.needs_views) continue;
    const TempFolder folder;
    FeatureTraining training = Job(folder, method.name.c_str());
    if (method.needs_labels) training.labels = &labels;
    const auto trained = TrainOnFeatures(Env::Posix(), training, images, RunContext());
    EXPECT_EQ(trained.model.method, method.name);
    ASSERT_TRUE(trained.model.pooling.has_value());
    EXPECT_EQ(trained.model.pooling->gamma > 0, method.name == "sah");
    EXPECT_EQ(EncodeImages(trained.model, images, RunContext()).codes.size(), 150);
    EXPECT_EQ(FilesLeft(folder), 0U) << "scratch files are left";
  }
}

// SAH and SASH.
class JointTraining : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(FeatureTraining, JointTraining, ::testing::Values("sah", "sash"));

TEST_P(JointTraining, RecordsInAFileGiveTheSameModel) {
  const TempFolder folder;
  const MemoryFeatureSet images = SmallScenes(80, 10, 10, 1);
  const Labels labels = SceneClasses(80, 10, 5);
  FeatureTraining training = Job(folder, GetParam());
  if (FindMethod(GetParam()).needs_labels) training.labels = &labels;
  const auto in_memory = TrainOnFeatures(Env::Posix(), training, images, RunContext());
  training.memory = 1;
  const auto in_file = TrainOnFeatures(Env::Posix(), training, images, RunContext());
  EXPECT_TRUE(SameBits(in_memory.model.decoder.weights, in_file.model.decoder.weights));
  EXPECT_EQ(FilesLeft(folder), 0U);
}

TEST_P(JointTraining, ResumesAfterAnInterruptionToTheSameModel) {
  const TempFolder folder;
  const MemoryFeatureSet images = SmallScenes(80, 10, 10, 1);
  const Labels labels = SceneClasses(80, 10, 5);
  FeatureTraining training = Job(folder, GetParam());
  training.settings.options["gamma"] = 1;
  if (FindMethod(GetParam()).needs_labels) training.labels = &labels;
  const auto whole = TrainOnFeatures(Env::Posix(), training, images, RunContext({.threads = 2}));
  ASSERT_GT(whole.summary.iterations.size(), 1U);

  // "pooling" runs once for Φ⁰ and once in each iteration; stopped in the second iteration.
  std::stop_source stop;
  int passes = 0;
  class StopInThirdPass : public ProgressSink {
   public:
    StopInThirdPass(std::stop_source& source, int& count) : source_(source), count_(count) {}
    void Report(const ProgressUpdate& update) override {
      if (update.task != "pooling") return;
      if (count_ == 2) source_.request_stop();
      count_ += update.ended ? 1 : 0;
    }

   private:
    std::stop_source& source_;
    int& count_;
  };
  const RunContext stopping({.threads = 2,
                             .seed = 1,
                             .stop = stop.get_token(),
                             .progress = std::make_shared<StopInThirdPass>(stop, passes)});
  const auto part = TrainOnFeatures(Env::Posix(), training, images, stopping);
  EXPECT_TRUE(part.summary.interrupted);
  EXPECT_EQ(part.summary.iterations.size(), 1U);
  EXPECT_EQ(FilesIn(folder), 1U) << "the checkpoint stays";

  training.settings.options["gamma"] = 2;
  training.resume = true;
  ExpectError(ErrorCode::kInvalidArgument, {"gamma"},
              [&] { TrainOnFeatures(Env::Posix(), training, images, RunContext()); });
  training.settings.options["gamma"] = 1;
  if (training.labels != nullptr) {
    const Labels others = SceneClasses(80, 10, 2);
    training.labels = &others;
    ExpectError(ErrorCode::kInvalidArgument, {"job.labels"},
                [&] { TrainOnFeatures(Env::Posix(), training, images, RunContext()); });
    training.labels = &labels;
  }
  const auto resumed = TrainOnFeatures(Env::Posix(), training, images, RunContext({.threads = 2}));
  EXPECT_TRUE(SameBits(resumed.model.decoder.weights, whole.model.decoder.weights));
  EXPECT_TRUE(SameBits(resumed.model.encoder->Parameters()[0].second,
                       whole.model.encoder->Parameters()[0].second));
  // Should saving the model fail, the last checkpoint gives it again.
  EXPECT_EQ(FilesIn(folder), 1U);
  const auto again = TrainOnFeatures(Env::Posix(), training, images, RunContext());
  EXPECT_TRUE(SameBits(again.model.decoder.weights, whole.model.decoder.weights));
  EXPECT_EQ(FilesLeft(folder), 0U);
}

// Every picture is followed by views of it, in which its descriptors have changed a little.
MemoryFeatureSet ScenesWithViews(Index pictures, Index views) {
  const MemoryFeatureSet scenes = SmallScenes(pictures, 10, 10, 1);
  MemoryFeatureSet images(scenes.dimension(), 1 + views);
  Random random(7);
  MatrixF descriptors;
  for (Index picture = 0; picture < pictures; ++picture) {
    scenes.Read(picture, descriptors);
    images.Add(scenes.name(picture), descriptors);
    for (Index view = 0; view < views; ++view) {
      images.Add(scenes.name(picture) + "#",
                 descriptors + 0.2F * random.NormalMatrix(descriptors.rows(), descriptors.cols()));
    }
  }
  return images;
}

TEST(FeatureTraining, TheContrastOfViewsResumesToTheSameModel) {
  const TempFolder folder;
  const MemoryFeatureSet images = ScenesWithViews(60, 3);
  FeatureTraining training = Job(folder, "sav");
  training.settings.options["epochs"] = 6;
  const auto whole = TrainOnFeatures(Env::Posix(), training, images, RunContext({.threads = 2}));
  EXPECT_EQ(whole.summary.iterations.size(), 6U);
  EXPECT_EQ(FilesLeft(folder), 0U);

  std::stop_source stop;
  class StopInTheThirdEpoch : public ProgressSink {
   public:
    explicit StopInTheThirdEpoch(std::stop_source& source) : source_(source) {}
    void Report(const ProgressUpdate& update) override {
      if (update.task == "contrast" && update.done >= 2) source_.request_stop();
    }

   private:
    std::stop_source& source_;
  };
  const RunContext stopping({.threads = 2,
                             .seed = 1,
                             .stop = stop.get_token(),
                             .progress = std::make_shared<StopInTheThirdEpoch>(stop)});
  const auto part = TrainOnFeatures(Env::Posix(), training, images, stopping);
  EXPECT_TRUE(part.summary.interrupted);
  EXPECT_LT(part.summary.iterations.size(), 6U);
  EXPECT_EQ(FilesIn(folder), 1U) << "the checkpoint stays";

  training.resume = true;
  training.settings.options["temperature"] = 0.2;
  ExpectError(ErrorCode::kInvalidArgument, {"temperature"},
              [&] { TrainOnFeatures(Env::Posix(), training, images, RunContext()); });
  training.settings.options.erase("temperature");
  const auto resumed = TrainOnFeatures(Env::Posix(), training, images, RunContext({.threads = 2}));
  EXPECT_EQ(resumed.summary.iterations.size(), 6U);
  EXPECT_TRUE(SameBits(resumed.model.encoder->Parameters()[0].second,
                       whole.model.encoder->Parameters()[0].second));
  EXPECT_EQ(FilesLeft(folder), 0U);
}

TEST(FeatureTraining, LearnsHowToPoolWhereItIsAsked) {
  const TempFolder folder;
  const MemoryFeatureSet images = ScenesWithViews(40, 2);
  FeatureTraining training = Job(folder, "sav");
  training.settings.options["epochs"] = 2;
  const auto plain = TrainOnFeatures(Env::Posix(), training, images, RunContext());
  EXPECT_EQ(plain.model.pooling->attention.size(), 0);
  training.settings.options["learn_pooling"] = 1;
  const auto learned = TrainOnFeatures(Env::Posix(), training, images, RunContext());
  EXPECT_EQ(learned.model.pooling->attention.size(), 10);
  EXPECT_NE(learned.model.pooling->mu, plain.model.pooling->mu);
  EXPECT_EQ(EncodeImages(learned.model, images, RunContext()).codes.size(), images.size());
}

// SAH after a whitening pools by the metric that it learned in, and both come back from a file.
// DeepBit has a second stage where there are views; CIBHash cannot do without.
TEST(FeatureTraining, ViewsReachTheMethodsThatTakeThemAsTheyAre) {
  const TempFolder folder;
  const MemoryFeatureSet images = ScenesWithViews(40, 2);
  const auto train = [&](const char* method, const FeatureSet& from) {
    FeatureTraining training = Job(folder, method);
    training.settings.options[method == std::string_view("deepbit") ? "steps" : "epochs"] = 20;
    return TrainOnFeatures(Env::Posix(), training, from, RunContext());
  };
  const FeatureSubset pictures = FeatureSubset::WithoutViews(images);
  EXPECT_EQ(train("deepbit", images).summary.iterations.size(), 20U);
  EXPECT_EQ(train("deepbit", pictures).summary.iterations.size(), 10U);
  EXPECT_EQ(train("cibhash", images).summary.samples, 120);
  ExpectError(ErrorCode::kInvalidArgument, {"images of each"}, [&] { train("cibhash", pictures); });
  EXPECT_EQ(FilesLeft(folder), 0U) << "no checkpoint is left";
}

TEST(FeatureTraining, SahMeasuresInTheMetricOfViews) {
  const TempFolder folder;
  const MemoryFeatureSet images = ScenesWithViews(60, 2);
  FeatureTraining training = Job(folder, "sah");
  const auto plain = TrainOnFeatures(Env::Posix(), training, images, RunContext());
  training.settings.options["whiten"] = 1;
  const auto whitened = TrainOnFeatures(Env::Posix(), training, images, RunContext());
  EXPECT_EQ(plain.model.pooling->metric.size(), 0);
  EXPECT_EQ(whitened.model.pooling->metric.rows(), 10);
  EXPECT_FALSE(SameBits(plain.model.encoder->Parameters()[0].second,
                        whitened.model.encoder->Parameters()[0].second));
  SaveModel(Env::Posix(), folder / "w.bpm", {.model = whitened.model, .training = {}},
            IfExists::kFail);
  const HashModel back = OpenModel(Env::Posix(), folder / "w.bpm").model;
  EXPECT_TRUE(SameBits(EncodeImages(back, images, RunContext()).projections,
                       EncodeImages(whitened.model, images, RunContext()).projections));
}

// The blank image is in the middle: what follows it must keep its own labels.
TEST(FeatureTraining, LeavesOutImagesWithoutDescriptorsAndTheirLabels) {
  const TempFolder folder;
  const MemoryFeatureSet good = SmallScenes(60, 10, 6, 1);
  const Labels good_labels = SceneClasses(60, 6, 3);
  MemoryFeatureSet images(10);
  std::vector<int32_t> classes;
  MatrixF descriptors;
  for (Index image = 0; image < 60; ++image) {
    if (image == 20) {
      images.Add("blank", MatrixF(10, 0));
      classes.push_back(2);
    }
    good.Read(image, descriptors);
    images.Add(good.name(image), descriptors);
    classes.push_back(good_labels.of(image).front());
  }
  const Labels labels = Labels::Single(classes);
  for (const Method& method : Methods()) {
    if (method.needs_views) continue;
    FeatureTraining training = Job(folder, method.name.c_str());
    if (method.needs_labels) training.labels = &labels;
    const auto trained = TrainOnFeatures(Env::Posix(), training, images, RunContext());
    EXPECT_EQ(trained.summary.skipped, std::vector<std::string>{"blank"}) << method.name;
    EXPECT_EQ(trained.summary.samples, 60) << method.name;
    if (method.needs_labels) training.labels = &good_labels;
    const auto expected = TrainOnFeatures(Env::Posix(), training, good, RunContext());
    EXPECT_TRUE(SameBits(trained.model.encoder->Parameters()[0].second,
                         expected.model.encoder->Parameters()[0].second))
        << method.name;
  }
}

TEST(FeatureTraining, LabelsAreForTheMethodsThatLearnFromThem) {
  const TempFolder folder;
  const MemoryFeatureSet images = SmallScenes(30, 10, 6, 1);
  const Labels labels = SceneClasses(30, 6, 3), few = SceneClasses(29, 6, 3);
  const auto train = [&](const char* method, const Labels* given) {
    FeatureTraining training = Job(folder, method);
    training.labels = given;
    TrainOnFeatures(Env::Posix(), training, images, RunContext());
  };
  for (const char* method : {"sash", "sdh"}) {
    ExpectError(ErrorCode::kInvalidArgument, {method, "learns from labels"},
                [&] { train(method, nullptr); });
    ExpectError(ErrorCode::kInvalidArgument, {"29 labels for 30"}, [&] { train(method, &few); });
  }
  for (const char* method : {"sah", "itq"}) {
    ExpectError(ErrorCode::kInvalidArgument, {method, "takes no labels"},
                [&] { train(method, &labels); });
  }
  EXPECT_EQ(FilesLeft(folder), 0U);
}

}  // namespace
}  // namespace bitpool
