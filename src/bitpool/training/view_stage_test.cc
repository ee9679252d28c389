#include "bitpool/training/view_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>

#include "bitpool/hash/baselines/cib_hash.h"
#include "bitpool/hash/baselines/deep_bit.h"
#include "bitpool/hash/baselines/testing.h"
#include "bitpool/hash/view_columns.h"
#include "bitpool/hash/view_testing.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/training/feature_training.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/model_file.h"
#include "bitpool/training/testing.h"

namespace bitpool {
namespace {

using ::bitpool::testing::TempFolder;
using ::testing::HasSubstr;

// Those that learn from vectors alone, and from views when they are told to.
constexpr std::array kMethods = {"rba",  "ba",  "itq",  "kmh",     "sph",
                                 "pcah", "lsh", "sadh", "graphbit"};

MethodSettings WhitenedStage(const std::string& method, int bits = 8) {
  return {.method = method, .bits = bits, .options = {{"whiten", 1}}};
}

HashModel Train(const MethodSettings& settings, const MatrixF& images, Index per_picture,
                const Labels* labels = nullptr) {
  const MatrixColumns source(images);
  return TrainOnVectors(settings, {.vectors = source, .labels = labels, .per_picture = per_picture},
                        RunContext({.threads = 2}))
      .model;
}

// The first `count` images of every picture.
MatrixF FirstOf(const MatrixF& images, Index per_picture, Index count) {
  MatrixF first(images.rows(), images.cols() / per_picture * count);
  for (Index i = 0; i < first.cols() / count; ++i) {
    first.middleCols(count * i, count) = images.middleCols(per_picture * i, count);
  }
  return first;
}

// The method on vectors that were whitened before, and the whitening folded into its model.
HashModel TrainByHand(MethodSettings settings, const MatrixF& images, Index per_picture,
                      const Labels* labels = nullptr) {
  const MatrixColumns source(images);
  const ViewWhitening whitening =
      LearnWhitening({}, {.vectors = source, .per_picture = per_picture}, RunContext());
  MatrixF buffer;
  const MatrixF whitened = MappedColumns(source, whitening.forward).Read(0, images.cols(), buffer);
  settings.options.erase("whiten");
  return FoldWhitening(whitening, Train(settings, whitened, 1, labels));
}

// Saved and opened again, a model gives the same numbers and reconstructions.
void ExpectStageComesBack(const HashModel& model, const MatrixF& x) {
  const TempFolder folder;
  SaveModel(Env::Posix(), folder / "m.bpm", {.model = model, .training = {}}, IfExists::kFail);
  const HashModel back = OpenModel(Env::Posix(), folder / "m.bpm").model;
  EXPECT_EQ(back.encoder->kind(), model.encoder->kind());
  EXPECT_TRUE(SameBits(back.encoder->Project(x), model.encoder->Project(x)));
  ExpectSameModel(back, model);
}

TEST(ViewStage, EveryMethodLearnsFromWhitenedVectorsAndItsModelKnowsTheWhitening) {
  const MatrixF images = ViewSamples(16, 300, 3, 1), fresh = ViewSamples(16, 40, 3, 2);
  const double variance = (images.colwise() - VectorF(images.rowwise().mean())).squaredNorm() / 900;
  for (const std::string method : kMethods) {
    SCOPED_TRACE(method);
    const HashModel model = Train(WhitenedStage(method), images, 3);
    EXPECT_EQ(model.method, method);
    const std::string_view own = FindMethod(method).encoder.name;
    EXPECT_EQ(model.encoder->kind(), own == "linear" ? "linear" : "mapped_" + std::string(own));
    EXPECT_EQ(model.dimension(), 16);
    EXPECT_EQ(model.bits(), 8);
    ExpectSameModel(model, TrainByHand(WhitenedStage(method), images, 3));
    ExpectStageComesBack(model, fresh);
    EXPECT_LT(ReconstructionError(model, MatrixColumns(images), RunContext()), variance);
  }
}

TEST(ViewStage, IsTheSameAtAnyNumberOfThreadsAndFromAFile) {
  const MatrixF images = ViewSamples(16, 2500, 2, 1);
  for (const char* method : {"itq", "sph"}) {
    ExpectSameAtAnyNumberOfThreads(images, [&](const ColumnSource& source,
                                               const RunContext& context) {
      return TrainOnVectors(WhitenedStage(method), {.vectors = source, .per_picture = 2}, context);
    });
  }
}

TEST(ViewStage, WithoutWhiteningOnlyThePicturesAreLearnedFrom) {
  const MatrixF images = ViewSamples(16, 300, 3, 1);
  const MatrixF pictures = FirstOf(images, 3, 1);
  for (const std::string method : kMethods) {
    SCOPED_TRACE(method);
    const MethodSettings settings{.method = method, .bits = 8};
    ExpectSameModel(Train(settings, images, 3), Train(settings, pictures, 1));
  }
}

// Without whitening, where there are views and where there are none.
TEST(ViewStage, SomeTakeViewsAsTheyAre) {
  const MatrixF images = ViewSamples(16, 200, 4, 1), fresh = ViewSamples(16, 40, 4, 2);
  const MatrixF two = FirstOf(images, 4, 2), pictures = FirstOf(images, 4, 1);
  MethodSettings settings{
      .method = "deepbit", .bits = 8, .options = {{"steps", 300}, {"view_steps", 100}}};
  const auto direct = [&](const MatrixF& of, Index per_picture) {
    const MatrixColumns source(of);
    return TrainDeepBit({.bits = 8, .steps = 300, .view_steps = 100},
                        {.vectors = source, .per_picture = per_picture}, RunContext())
        .model;
  };
  ExpectSameModel(Train(settings, images, 4), direct(images, 4));
  ExpectSameModel(Train(settings, pictures, 1), direct(pictures, 1));
  settings.options["views"] = 1;
  const HashModel model = Train(settings, images, 4);
  ExpectSameModel(model, direct(two, 2));
  ExpectStageComesBack(model, fresh);
  settings.options["whiten"] = 1;
  ExpectStageComesBack(Train(settings, images, 4), fresh);
}

TEST(ViewStage, SomeNeedViewsAsTheyAre) {
  const MatrixF images = ViewSamples(16, 200, 3, 1), fresh = ViewSamples(16, 40, 3, 2);
  MethodSettings settings{
      .method = "cibhash", .bits = 8, .options = {{"hidden", 20}, {"epochs", 2}}};
  const MatrixColumns source(images);
  const HashModel direct = TrainCibHash({.bits = 8, .hidden = 20, .epochs = 2},
                                        {.vectors = source, .per_picture = 3}, RunContext())
                               .model;
  const HashModel model = Train(settings, images, 3);
  ExpectSameModel(model, direct);
  ExpectStageComesBack(model, fresh);
  EXPECT_THAT(RefusalOf([&] { Train(settings, images, 1); }), HasSubstr("images of each"));
  settings.options["whiten"] = 1;
  ExpectStageComesBack(Train(settings, images, 3), fresh);
}

TEST(ViewStage, UsesTheFirstViewsThatAreAskedFor) {
  const MatrixF images = ViewSamples(16, 200, 5, 1);
  const HashModel all = Train(WhitenedStage("itq"), images, 5);
  const auto with = [&](double views) {
    MethodSettings settings = WhitenedStage("itq");
    settings.options["views"] = views;
    return Train(settings, images, 5);
  };
  ExpectSameModel(with(2), Train(WhitenedStage("itq"), FirstOf(images, 5, 3), 3));
  ExpectSameModel(with(1), Train(WhitenedStage("itq"), FirstOf(images, 5, 2), 2));
  for (const double views : {0, 4, 5, 100}) ExpectSameModel(with(views), all);
}

TEST(ViewStage, LabelsAreThoseOfThePictures) {
  constexpr Index kPictures = 90, kEach = 3;
  MatrixF images = ViewSamples(8, kPictures, kEach, 1);
  std::vector<int32_t> of_pictures, of_images;
  for (Index i = 0; i < images.cols(); ++i) {
    const Index label = i / kEach % 3;
    images(label, i) += 8;
    of_images.push_back(static_cast<int32_t>(label));
    if (i % kEach == 0) of_pictures.push_back(static_cast<int32_t>(label));
  }
  const Labels labels = Labels::Single(of_pictures), each = Labels::Single(of_images);
  for (const char* method : {"sdh", "cca-itq"}) {
    SCOPED_TRACE(method);
    const HashModel model = Train(WhitenedStage(method), images, kEach, &labels);
    ExpectSameModel(model, TrainByHand(WhitenedStage(method), images, kEach, &each));
    ExpectStageComesBack(model, images);
    const MethodSettings plain{.method = method, .bits = 8};
    ExpectSameModel(Train(plain, images, kEach, &labels),
                    Train(plain, FirstOf(images, kEach, 1), 1, &labels));
    EXPECT_THAT(RefusalOf([&] { Train(plain, images, kEach, &each); }),
                HasSubstr("270 labels for 90 samples"));
  }
}

TEST(ViewStage, RefusesWhatHasNoMeaning) {
  const MatrixF images = ViewSamples(8, 20, 3, 1);
  const auto refusal = [&](const MethodSettings& settings, Index per_picture) {
    return RefusalOf([&] { Train(settings, images, per_picture); });
  };
  EXPECT_THAT(refusal(WhitenedStage("itq", 4), 1),
              HasSubstr("(itself and its views), got 60 with 1"));
  EXPECT_THAT(refusal(WhitenedStage("itq", 4), 7),
              HasSubstr("60 vectors: expected 7 of every picture"));
  EXPECT_THAT(refusal({.method = "itq", .bits = 4}, 7), HasSubstr("expected 7 of every picture"));
  EXPECT_THAT(refusal({.method = "itq", .bits = 4}, 0), HasSubstr("expected 0 of every picture"));
  const auto refused_option = [&](const char* option, double value) {
    MethodSettings settings = WhitenedStage("itq", 4);
    settings.options[option] = value;
    return refusal(settings, 3);
  };
  EXPECT_THAT(refused_option("epsilon", 0), HasSubstr("epsilon"));
  EXPECT_THAT(refused_option("epsilon", -1), HasSubstr("epsilon"));
  EXPECT_THAT(refused_option("views", -1), HasSubstr("views"));
  EXPECT_THAT(refused_option("views", 1.5), HasSubstr("views: expected a whole number"));
  MatrixF bad = images;
  bad(1, 31) = std::nanf("");
  EXPECT_THAT(RefusalOf([&] { Train(WhitenedStage("itq", 4), bad, 3); }), HasSubstr("column 31"));
}

// How often the nearest code of a view is another view of its picture; ties count in part.
double FoundByViews(const HashModel& model, const MatrixF& images, Index per_picture) {
  const BinaryCodes codes = model.encoder->Encode(images);
  const Index pictures = images.cols() / per_picture;
  double found = 0;
  for (Index asking = 0; asking < pictures; ++asking) {
    std::vector<int> distances;
    for (Index asked = 0; asked < pictures; ++asked) {
      const auto a = codes.code(per_picture * asking), b = codes.code(per_picture * asked + 1);
      int distance = 0;
      for (size_t i = 0; i < a.size(); ++i) {
        distance += std::popcount(static_cast<uint8_t>(a[i] ^ b[i]));
      }
      distances.push_back(distance);
    }
    const int nearest = *std::ranges::min_element(distances);
    if (distances[static_cast<size_t>(asking)] == nearest) {
      found += 1.0 / static_cast<double>(std::ranges::count(distances, nearest));
    }
  }
  return found / static_cast<double>(pictures);
}

// What views change most is what varies most: codes of the largest variance encode the nuisance.
TEST(ViewStage, WhitenedCodesFindViewsWhereOthersDoNot) {
  const MatrixF images = ViewSamples(24, 500, 4, 1, 6, 10);
  const MatrixF fresh = ViewSamples(24, 100, 2, 2, 6, 10);
  const double plain = FoundByViews(Train({.method = "itq", .bits = 16}, images, 4), fresh, 2);
  MethodSettings settings = WhitenedStage("itq", 16);
  settings.options["epsilon"] = 1e-3;  // little enough for so strong a nuisance
  const double whitened = FoundByViews(Train(settings, images, 4), fresh, 2);
  EXPECT_GT(whitened, 0.8);
  EXPECT_LT(plain, 0.3);
}

// A whitening that is evened out this much knows little of views: what finds them is the contrast.
TEST(ViewStage, TheContrastFindsViewsWhereTheWhiteningAloneDoesNot) {
  constexpr double kMoreThanPlain = 0.4, kMoreThanWhitened = 0.3;
  const MatrixF images = ViewSamples(24, 150, 4, 1, 2, 10);
  const MatrixF fresh = ViewSamples(24, 100, 2, 2, 2, 10);
  const auto found = [&](MethodSettings settings) {
    settings.options["epsilon"] = 3;
    return FoundByViews(Train(settings, images, 4), fresh, 2);
  };
  const double contrast =
      found({.method = "sav", .bits = 16, .options = {{"epochs", 600}, {"temperature", 0.2}}});
  EXPECT_GT(contrast, found({.method = "itq", .bits = 16}) + kMoreThanPlain);
  EXPECT_GT(contrast, found(WhitenedStage("itq", 16)) + kMoreThanWhitened);
}

HashModel TrainOn(const MethodSettings& settings, const FeatureSet& features,
                  std::vector<std::string>* skipped = nullptr, const Labels* labels = nullptr) {
  const TempFolder folder;
  const Trained<HashModel> trained = TrainOnFeatures(
      Env::Posix(), {.settings = settings, .output = folder / "m.bpm", .labels = labels}, features,
      RunContext());
  if (skipped != nullptr) *skipped = trained.summary.skipped;
  return trained.model;
}

TEST(ViewStage, OfLocalFeaturesPoolsAllImages) {
  const MemoryFeatureSet images = SmallViews(60, 8, 3, 1);
  const HashModel model = TrainOn(WhitenedStage("itq", 6), images);
  ASSERT_TRUE(model.pooling.has_value());
  ExpectSameModel(model, TrainOn(WhitenedStage("itq", 6), images));
  EXPECT_FALSE(SameBits(model.decoder.weights,
                        TrainOn({.method = "itq", .bits = 6}, images).decoder.weights));
  EXPECT_THAT(
      RefusalOf([&] { TrainOn(WhitenedStage("itq", 6), FeatureSubset::WithoutViews(images)); }),
      HasSubstr("got 60 with 1"));
  // Parts of the descriptors stand in for views.
  const MemoryFeatureSet scenes = SmallScenes(60, 8, 6, 1);
  EXPECT_EQ(TrainOn(WhitenedStage("itq", 6), DescriptorParts(scenes, 2, 1)).bits(), 6);
}

TEST(ViewStage, MethodsThatDoNotWhitenReadNoView) {
  const MemoryFeatureSet images = SmallViews(60, 8, 3, 1);
  const FeatureSubset pictures = FeatureSubset::WithoutViews(images);
  const Labels labels = SceneClasses(60, 3, 3);
  for (const char* method : {"itq", "rba", "sah", "sash"}) {
    SCOPED_TRACE(method);
    const CountingFeatureSet counted(images);
    const Labels* known = std::string(method) == "sash" ? &labels : nullptr;
    const MethodSettings settings{.method = method, .bits = 6};
    ExpectSameModel(TrainOn(settings, counted, nullptr, known),
                    TrainOn(settings, pictures, nullptr, known));
    for (Index image = 0; image < images.size(); ++image) {
      EXPECT_EQ(counted.reads(image) > 0, image % 3 == 0) << image;
    }
  }
}

// A picture with an empty view is left out with all of its images.
TEST(ViewStage, LeavesOutWholePictures) {
  const MemoryFeatureSet images = SmallViews(60, 8, 3, 1, {0, 31, 179});
  std::vector<std::string> skipped;
  const HashModel model = TrainOn(WhitenedStage("itq", 6), images, &skipped);
  EXPECT_THAT(skipped, ::testing::ElementsAre("picture0#0", "picture10#1", "picture59#2"));
  std::vector<Index> whole;
  for (Index picture = 1; picture < 59; ++picture) {
    if (picture != 10) whole.push_back(picture);
  }
  ExpectSameModel(model,
                  TrainOn(WhitenedStage("itq", 6), FeatureSubset::OfPictures(images, whole)));
  const Labels labels = SceneClasses(60, 3, 3);
  ExpectSameModel(TrainOn(WhitenedStage("sdh", 6), images, nullptr, &labels), [&] {
    const Labels kept = labels.Select(whole);
    return TrainOn(WhitenedStage("sdh", 6), FeatureSubset::OfPictures(images, whole), nullptr,
                   &kept);
  }());
}

}  // namespace
}  // namespace bitpool
