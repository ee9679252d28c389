#include "bitpool/training/feature_training.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/learned_pooling.h"
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

  training.resume = true;
  const MemoryFeatureSet as_many = SmallScenes(80, 10, 10, 2);  // but not the same
  ExpectError(ErrorCode::kInvalidArgument, {"content"},
              [&] { TrainOnFeatures(Env::Posix(), training, as_many, RunContext()); });

  training.settings.options["gamma"] = 2;
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

MemoryFeatureSet ScenesWithViews(Index pictures, Index views) {
  return WithSmallChanges(SmallScenes(pictures, 10, 10, 1), pictures, views);
}

// Counts the epochs of the contrast that are run: each is noted with its loss, while those that a
// resumed training begins with are not.
class EpochCounter : public ProgressSink {
 public:
  void Report(const ProgressUpdate& update) override {
    if (update.task == "contrast" && !update.ended && !update.note.empty()) ++epochs_;
  }
  size_t epochs() const { return epochs_; }

 private:
  size_t epochs_ = 0;
};

TEST(FeatureTraining, TheContrastOfViewsResumesToTheSameModel) {
  const TempFolder folder;
  const MemoryFeatureSet images = ScenesWithViews(60, 3);
  FeatureTraining training = Job(folder, "sav");
  training.settings.options["epochs"] = 6;
  const auto all = std::make_shared<EpochCounter>();
  const auto whole =
      TrainOnFeatures(Env::Posix(), training, images, RunContext({.threads = 2, .progress = all}));
  EXPECT_EQ(whole.summary.iterations.size(), 6U);
  EXPECT_EQ(all->epochs(), 6U);
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
  const auto rest = std::make_shared<EpochCounter>();
  const auto resumed =
      TrainOnFeatures(Env::Posix(), training, images, RunContext({.threads = 2, .progress = rest}));
  EXPECT_EQ(rest->epochs() + part.summary.iterations.size(), 6U) << "only what was left is run";
  EXPECT_EQ(resumed.summary.iterations.size(), 6U);
  EXPECT_TRUE(SameBits(resumed.model.encoder->Parameters()[0].second,
                       whole.model.encoder->Parameters()[0].second));
  EXPECT_EQ(FilesLeft(folder), 0U);
}

// φ of an image by the definition of its system, densely and in double precision:
//   (A + γV diag(w) Vᵀ + γμI) φ = γVw + b,  w(v) = exp(aᵀv) with the mean 1.
struct DenseSystem {
  MatrixD a;
  VectorD b;
  double gamma = 1, mu = 1;
  VectorD attention;

  // Without a coupling: generalised max pooling with weights.
  static DenseSystem Uncoupled(const PoolingRecipe& recipe) {
    const Index dimension = recipe.attention.size();
    return {.a = MatrixD::Zero(dimension, dimension),
            .b = VectorD::Zero(dimension),
            .gamma = 1,
            .mu = recipe.mu,
            .attention = recipe.attention.cast<double>()};
  }

  // A = MᵀFᵀFM and b = MᵀFᵀF(W₂c₁ + c₂) with M = I − W₂W₁.
  static DenseSystem Coupled(const HashModel& model, const MatrixD& factor) {
    const LinearMap& encoder = dynamic_cast<const LinearEncoder&>(*model.encoder).map();
    const MatrixD w1 = encoder.weights.cast<double>(), w2 = model.decoder.weights.cast<double>();
    const VectorD c1 = encoder.bias.cast<double>(), c2 = model.decoder.bias.cast<double>();
    const MatrixD m = MatrixD::Identity(model.dimension(), model.dimension()) - w2 * w1;
    const MatrixD back = m.transpose() * factor.transpose() * factor;
    return {.a = back * m,
            .b = back * (w2 * c1 + c2),
            .gamma = model.pooling->gamma,
            .mu = model.pooling->mu,
            .attention = VectorD::Zero(model.dimension())};
  }

  VectorD Pool(const MatrixD& v) const {
    VectorD w = (v.transpose() * attention).array().exp();
    w /= w.mean();
    MatrixD matrix = a + gamma * v * w.asDiagonal() * v.transpose();
    matrix.diagonal().array() += gamma * mu;
    return matrix.ldlt().solve(gamma * v * w + b);
  }
};

// The descriptors of an image, each of length one.
MatrixD UnitColumns(const FeatureSet& images, Index image) {
  MatrixF descriptors;
  images.Read(image, descriptors);
  return descriptors.cast<double>().colwise().normalized();
}

double RelativeDistance(const MatrixF& a, const MatrixF& b) { return (a - b).norm() / b.norm(); }

TEST(FeatureTraining, LearnsHowToPoolWhereItIsAsked) {
  const TempFolder folder;
  const MemoryFeatureSet images = ScenesWithViews(40, 2);
  FeatureTraining training = Job(folder, "sav");
  training.settings.options = {{"epochs", 2}, {"temperature", 0.2}, {"mu", 2}, {"epsilon", 0.5}};
  const auto plain = TrainOnFeatures(Env::Posix(), training, images, RunContext());
  EXPECT_EQ(plain.model.pooling->attention.size(), 0);
  EXPECT_EQ(plain.model.pooling->mu, 2);
  training.settings.options["learn_pooling"] = 1;
  const HashModel model = TrainOnFeatures(Env::Posix(), training, images, RunContext()).model;
  const PoolingRecipe& recipe = *model.pooling;
  ASSERT_EQ(recipe.attention.size(), 10);
  EXPECT_NE(recipe.mu, 2);

  // What is learned begins at the closed form: ITQ of the whitened vectors.
  const auto vectors_by = [&](const PoolingRecipe& by) {
    const PoolingSystem system(Coupling::None(10), {.mu = by.mu}, by.attention);
    return PoolImages(system, true, images, RunContext()).vectors;
  };
  const MatrixF before = vectors_by({.mu = 2}), after = vectors_by(recipe);
  const MatrixColumns before_columns(before), after_columns(after);
  const HashModel closed =
      TrainOnVectors({.method = "itq", .bits = 6, .options = {{"whiten", 1}, {"epsilon", 0.5}}},
                     {.vectors = before_columns, .per_picture = 3}, RunContext())
          .model;
  const LearnedPooling direct =
      LearnPooling({.temperature = 0.2, .mu = 2}, images, 3,
                   dynamic_cast<const LinearEncoder&>(*closed.encoder).map(), RunContext());
  EXPECT_TRUE(SameBits(recipe.attention, direct.recipe.attention));
  EXPECT_EQ(recipe.mu, direct.recipe.mu);

  // Its vectors are what the hash functions are learned from,
  const HashModel of_vectors =
      TrainOnVectors(training.settings, {.vectors = after_columns, .per_picture = 3}, RunContext())
          .model;
  EXPECT_TRUE(
      SameBits(model.encoder->Parameters()[0].second, of_vectors.encoder->Parameters()[0].second));
  // and what images are encoded by.
  const DenseSystem system = DenseSystem::Uncoupled(recipe);
  MatrixF expected(10, images.size());
  for (Index image = 0; image < images.size(); ++image) {
    expected.col(image) = system.Pool(UnitColumns(images, image)).cast<float>();
  }
  const MatrixF projections = EncodeImages(model, images, RunContext()).projections;
  EXPECT_LT(RelativeDistance(projections, model.encoder->Project(expected)), 0.005);
  EXPECT_GT(RelativeDistance(projections, model.encoder->Project(before)), 0.02);
}

// DeepBit has a second stage where there are views; CIBHash cannot do without them.
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

// SAH after a whitening pools by the metric that it learned in, and both come back from a file.
TEST(FeatureTraining, SahMeasuresInTheMetricOfViews) {
  const TempFolder folder;
  const MemoryFeatureSet images = ScenesWithViews(60, 2);
  FeatureTraining training = Job(folder, "sah");
  const auto plain = TrainOnFeatures(Env::Posix(), training, images, RunContext());
  training.settings.options["whiten"] = 1;
  const auto whitened = TrainOnFeatures(Env::Posix(), training, images, RunContext());
  const HashModel& model = whitened.model;
  EXPECT_EQ(plain.model.pooling->metric.size(), 0);
  EXPECT_FALSE(
      SameBits(plain.model.encoder->Parameters()[0].second, model.encoder->Parameters()[0].second));
  SaveModel(Env::Posix(), folder / "w.bpm", {.model = model, .training = {}}, IfExists::kFail);
  const HashModel back = OpenModel(Env::Posix(), folder / "w.bpm").model;
  EXPECT_TRUE(SameBits(EncodeImages(back, images, RunContext()).projections,
                       EncodeImages(model, images, RunContext()).projections));
  // The metric is that of all images' vectors, as generalised max pooling makes them.
  const PoolingSystem uncoupled(Coupling::None(10), {.mu = model.pooling->mu});
  const MatrixF all = PoolImages(uncoupled, true, images, RunContext()).vectors;
  const MatrixColumns columns(all);
  const ViewWhitening whitening =
      LearnWhitening({}, {.vectors = columns, .per_picture = 3}, RunContext());
  EXPECT_TRUE(SameBits(model.pooling->metric, whitening.forward.weights));
}

// The vectors that were pooled with a metric of this factor, by the maps of a model.
struct DenselyPooled {
  MatrixF vectors;
  double aggregation = 0;  // mean of ‖Vᵀφ − 1‖² + μ‖φ‖²

  DenselyPooled(const HashModel& model, const MatrixD& factor, const FeatureSet& pictures)
      : vectors(model.dimension(), pictures.size()) {
    const DenseSystem system = DenseSystem::Coupled(model, factor);
    for (Index picture = 0; picture < pictures.size(); ++picture) {
      const MatrixD v = UnitColumns(pictures, picture);
      const VectorD pooled = system.Pool(v);
      vectors.col(picture) = pooled.cast<float>();
      aggregation +=
          ((v.transpose() * pooled).array() - 1).square().sum() + system.mu * pooled.squaredNorm();
    }
    aggregation /= static_cast<double>(pictures.size());
  }
};

// The last Φ of the training is that of the last maps, which are the model's; it is seen in its
// aggregation. Records are kept in half precision, which changes that by much less than half a
// percent, and twice the factor by some percent.
TEST(FeatureTraining, SahPoolsInTheMetricOfViews) {
  const TempFolder folder;
  const MemoryFeatureSet images = ScenesWithViews(60, 2);
  FeatureTraining training = Job(folder, "sah");
  training.settings.options["whiten"] = 1;
  const auto trained = TrainOnFeatures(Env::Posix(), training, images, RunContext());
  const HashModel& model = trained.model;
  const FeatureSubset pictures = FeatureSubset::WithoutViews(images);
  const MatrixD factor = model.pooling->metric.cast<double>();
  const DenselyPooled right(model, factor, pictures), twice(model, 2 * factor, pictures);
  EXPECT_NEAR(trained.summary.iterations.back().aggregation, right.aggregation,
              0.005 * right.aggregation);
  EXPECT_GT(twice.aggregation, 1.015 * right.aggregation) << "or nothing was shown";
  const MatrixF projections = EncodeImages(model, pictures, RunContext()).projections;
  EXPECT_LT(RelativeDistance(projections, model.encoder->Project(right.vectors)), 0.005);
  EXPECT_GT(RelativeDistance(projections, model.encoder->Project(twice.vectors)), 0.02);
  // The decoder leads back to the vectors themselves, not to whitened ones.
  const VectorF mean = right.vectors.rowwise().mean();
  const double variance = (right.vectors.colwise() - mean).squaredNorm() / 60;
  EXPECT_LT(ReconstructionError(model, MatrixColumns(right.vectors), RunContext()), 0.5 * variance);
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
