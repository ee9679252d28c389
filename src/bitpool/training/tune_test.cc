#include "bitpool/training/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "bitpool/hash/sash.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/testing.h"
#include "bitpool/training/tune_search.h"

namespace bitpool {
namespace {

TuneOptions TuneOptionsOf(const char* method) {
  TuneOptions options;
  options.settings.method = method;
  options.settings.bits = 6;
  options.seeds = 1;
  options.rounds = 1;
  return options;
}

TEST(Tune, TriesAGridAndRefinesAroundTheBest) {
  const MemoryFeatureSet images = SmallScenes(120, 8, 12, 1);
  const TuneResult result = Tune(TuneOptionsOf("sah"), images, nullptr, RunContext());
  ASSERT_EQ(result.trials.size(), 2U * 3 * 3 * 3 + 8);
  double best = 0;
  for (const TuneTrial& trial : result.trials) best = std::max(best, trial.score);
  EXPECT_EQ(result.best.score, best);
  EXPECT_GT(best, 5) << "percent; chance is about 10 of 40";
  const MethodSettings chosen = result.Chosen(TuneOptionsOf("sah").settings);
  EXPECT_EQ(chosen.options.at("gamma"), result.best.ValueOf("gamma"));
  EXPECT_EQ(chosen.options.at("mu"), result.best.ValueOf("mu"));
}

TEST(Tune, KeepsWhatIsSetAndKnowsLabels) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 4, 2);
  const Labels labels = SceneClasses(60, 4, 4);
  TuneOptions options = TuneOptionsOf("sah");
  options.settings.options["mu"] = 5;
  options.settings.options["lambda"] = 0.02;
  options.settings.options["beta"] = 0.001;
  const TuneResult result = Tune(options, images, &labels, RunContext());
  EXPECT_EQ(result.trials.size(), 3U + 2);
  for (const TuneTrial& trial : result.trials) {
    EXPECT_EQ(trial.ValueOf("mu"), 5);
    EXPECT_EQ(trial.ValueOf("lambda"), 0.02);
    EXPECT_EQ(trial.ValueOf("beta"), 0.001);
  }
  EXPECT_THAT(result.criterion, ::testing::HasSubstr("class"));
  EXPECT_GT(result.best.score, 40) << "percent; chance is 25";
}

TEST(Tune, OfRbaHasNoGamma) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 4, 3);
  const TuneResult result = Tune(TuneOptionsOf("rba"), images, nullptr, RunContext());
  EXPECT_EQ(result.trials.size(), 2U * 3 * 3 + 6);
  EXPECT_FALSE(result.Chosen(TuneOptionsOf("rba").settings).options.contains("gamma"));
}

// γ and μ, then λ and β, then α, then kernels, each stage around the best so far; then a step up
// and down.
TEST(Tune, OfSashSearchesInStages) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 6, 1);
  const Labels labels = SceneClasses(60, 6, 3);
  const TuneResult result = Tune(TuneOptionsOf("sash"), images, &labels, RunContext());
  ASSERT_EQ(result.trials.size(), 15U + 9 + 5 + 10 + 5 + 2 + 10);
  const auto best_of_first = [&](size_t count) {
    return *std::max_element(
        result.trials.begin(), result.trials.begin() + static_cast<std::ptrdiff_t>(count),
        [](const TuneTrial& a, const TuneTrial& b) { return a.score < b.score; });
  };
  const SashOptions defaults;
  for (size_t i = 0; i < 29; ++i) {
    const TuneTrial& trial = result.trials[i];
    const bool pooling = i < 15, hashing = !pooling && i < 24;
    const TuneTrial before = i < 15 ? trial : best_of_first(i < 24 ? 15 : 24);
    EXPECT_EQ(trial.ValueOf("gamma"), before.ValueOf("gamma"));
    EXPECT_EQ(trial.ValueOf("mu"), before.ValueOf("mu"));
    if (!hashing) {
      EXPECT_EQ(trial.ValueOf("lambda"),
                pooling ? defaults.joint.rba.lambda : before.ValueOf("lambda"));
      EXPECT_EQ(trial.ValueOf("beta"), pooling ? defaults.joint.rba.beta : before.ValueOf("beta"));
    }
    if (i < 24) {
      EXPECT_EQ(trial.ValueOf("alpha"), defaults.alpha);
    }
    EXPECT_EQ(trial.ValueOf("anchors"), 0);
  }
  for (size_t i = 29; i < 39; ++i) {
    EXPECT_EQ(result.trials[i].ValueOf("anchors"), 1000);
    EXPECT_EQ(result.trials[i].ValueOf("alpha"), best_of_first(29).ValueOf("alpha"));
  }
  EXPECT_EQ(result.best.score, best_of_first(result.trials.size()).score);
  EXPECT_GT(result.best.score, 60) << "percent; chance is 33";
  const MethodSettings chosen = result.Chosen(TuneOptionsOf("sash").settings);
  EXPECT_TRUE(std::ranges::any_of(result.trials, [&](const TuneTrial& trial) {
    return chosen.options == trial.constants && trial.score == result.best.score;
  }));
}

TEST(Tune, OfSashKeepsWhatIsSet) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 6, 1);
  const Labels labels = SceneClasses(60, 6, 3);
  TuneOptions options = TuneOptionsOf("sash");
  options.settings.options["alpha"] = 0.7;
  options.settings.options["mu"] = 5;
  options.settings.options["beta"] = 0.001;
  const TuneResult result = Tune(options, images, &labels, RunContext());
  EXPECT_EQ(result.trials.size(), 3U + 3 + 1 + 10 + 5 + 2 + 4);
  for (const TuneTrial& trial : result.trials) {
    EXPECT_EQ(trial.ValueOf("alpha"), 0.7);
    EXPECT_EQ(trial.ValueOf("mu"), 5);
    EXPECT_DOUBLE_EQ(trial.ValueOf("beta"), 0.001);
  }
}

// Descriptors around one of four corners of a square; corners across from each other are of one
// class. All are on one side of the origin, which their lengths do not tell.
MemoryFeatureSet CornerImages(Index count) {
  Random random(1);
  MemoryFeatureSet images(6);
  for (Index i = 0; i < count; ++i) {
    MatrixF v = 0.15F * random.NormalMatrix(6, 10);
    v.row(0).array() += i / 2 % 2 == 0 ? 1.0F : -1.0F;
    v.row(1).array() += (i / 2 + i) % 2 == 0 ? 1.0F : -1.0F;
    v.row(2).array() += 2;
    images.Add("image " + std::to_string(i), v);
  }
  return images;
}

TEST(Tune, OfSashChoosesAKernelWhereItPays) {
  TuneOptions options = TuneOptionsOf("sash");
  options.settings.options = {{"mu", 1}, {"gamma", 1}, {"beta", 1e-5}, {"alpha", 0.01}};
  options.rounds = 0;
  const Labels crossed = SceneClasses(160, 2, 2);
  const TuneResult bent = Tune(options, CornerImages(160), &crossed, RunContext());
  EXPECT_EQ(bent.best.ValueOf("anchors"), 1000);
  EXPECT_GT(bent.best.score, 90);
  EXPECT_LT(bent.trials.front().score, 75) << "percent, of a linear one; chance is 50";
  const nlohmann::json config = WriteConfig(options.settings, bent);
  EXPECT_EQ(config["anchors"].dump(), "1000");
  EXPECT_EQ(ReadConfig(config, {.method = "sash"}).options.at("anchors"), 1000);
}

// A kernel that is no better than the linear functions is not worth its cost.
TEST(Tune, OfSashStaysLinearWhereAKernelDoesNotPay) {
  TuneOptions options = TuneOptionsOf("sash");
  options.settings.options = {{"mu", 1}, {"gamma", 1}, {"beta", 1e-5}, {"alpha", 0.01}};
  options.rounds = 0;
  // Of the corners, two beside each other are one class now.
  std::vector<int32_t> classes;
  for (int32_t i = 0; i < 160; ++i) classes.push_back(i / 2 % 2);
  const Labels beside = Labels::Single(classes);
  const TuneResult straight = Tune(options, CornerImages(160), &beside, RunContext());
  EXPECT_DOUBLE_EQ(straight.best.score, 100);
  EXPECT_EQ(straight.best.ValueOf("anchors"), 0);
  EXPECT_EQ(straight.trials.back().ValueOf("anchors"), 3000) << "though it was tried";
}

// Choosing constants of SASH for classes that are held out, of the scenes of SceneClasses.
TuneOptions UnseenOptions() {
  TuneOptions options = TuneOptionsOf("sash");
  options.settings.options["mu"] = 100;
  options.rounds = 0;
  options.unseen_classes = true;
  return options;
}

// Of three classes one is held out: all that is searched for it is right. And what is held out is
// read for the criterion alone.
TEST(Tune, ClassesThatAreHeldOutAreNotLearned) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 6, 1);
  const CountingFeatureSet counted(images);
  const Labels labels = SceneClasses(60, 6, 3);
  TuneOptions options = UnseenOptions();
  const TuneResult result = Tune(options, counted, &labels, RunContext());
  EXPECT_THAT(result.criterion, ::testing::HasSubstr("classes held out"));
  for (const TuneTrial& trial : result.trials) EXPECT_DOUBLE_EQ(trial.score, 100);
  int read = 0;
  for (Index image = 0; image < 60; ++image) {
    EXPECT_LE(counted.reads(image), 1) << "image " << image;
    read += counted.reads(image);
  }
  EXPECT_EQ(read, 60 - 3) << "the split leaves one query of each class aside";
  options.unseen_classes = false;
  EXPECT_LT(Tune(options, images, &labels, RunContext()).trials.front().score, 100);
}

// Which three images are set aside as queries depends on the seed, as the classes do.
TEST(Tune, EveryRunHoldsOutClassesOfItsOwn) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 6, 1);
  const CountingFeatureSet counted(images);
  const Labels labels = SceneClasses(60, 6, 3);
  TuneOptions options = UnseenOptions();
  options.seeds = 3;
  Tune(options, counted, &labels, RunContext());
  int read = 0, aside = 0;
  for (Index image = 0; image < 60; ++image) {
    read += counted.reads(image);
    if (counted.reads(image) < 3) ++aside;
  }
  EXPECT_EQ(read, 3 * (60 - 3));
  EXPECT_GT(aside, 3) << "other images in every run";
}

// The defaults are tried first, and give way only to a gain that the runs agree on.
TEST(Tune, ClassesThatAreHeldOutDecideTogether) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 6, 1);
  const Labels labels = SceneClasses(60, 6, 6);
  TuneOptions options = UnseenOptions();
  options.seeds = 3;
  const TuneResult result = Tune(options, images, &labels, RunContext());
  EXPECT_EQ(result.trials.front().ValueOf("alpha"), SashOptions().alpha);
  EXPECT_EQ(result.trials.front().ValueOf("anchors"), 0);
  bool tempted = false;
  for (const TuneTrial& trial : result.trials) {
    ASSERT_EQ(trial.runs.size(), 3U);
    EXPECT_NEAR(trial.score, (trial.runs[0] + trial.runs[1] + trial.runs[2]) / 3, 1e-9);
    tempted = tempted || trial.score > result.best.score;
  }
  EXPECT_GE(SureGain(result.best.runs, result.trials.front().runs), 0);
  EXPECT_TRUE(tempted) << "some candidate has a larger mean, for want of agreement not chosen";
}

// A whole picture as one vector has no halves, but with labels it need not have any.
TEST(Tune, ImagesOfOneDescriptorNeedLabels) {
  Random random(7);
  MemoryFeatureSet images(6);
  std::vector<int32_t> classes;
  for (int32_t i = 0; i < 90; ++i) {
    MatrixF vector = 0.3F * random.NormalMatrix(6, 1);
    vector(i % 3, 0) += 1;
    images.Add("image " + std::to_string(i), vector);
    classes.push_back(i % 3);
  }
  const Labels labels = Labels::Single(classes);
  TuneOptions options = TuneOptionsOf("cca-itq");
  EXPECT_GT(Tune(options, images, &labels, RunContext()).best.score, 60) << "percent";
  options = TuneOptionsOf("rba");
  EXPECT_THROW(Tune(options, images, nullptr, RunContext()), Error);
}

// With a class for every image no held-out image has a right answer, and no candidate a score.
TEST(Tune, NeedsClassesThatAreThereTwice) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 6, 1);
  const Labels alone = SceneClasses(60, 60, 60);
  EXPECT_THAT(RefusalOf([&] { Tune(TuneOptionsOf("cca-itq"), images, &alone, RunContext()); }),
              ::testing::HasSubstr("share a class"));
}

// The compared methods keep their authors' settings; how their vectors are pooled is chosen.
TEST(Tune, OfOtherMethodsWithLabelsChoosesThePoolingAlone) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 6, 1);
  const Labels labels = SceneClasses(60, 6, 3);
  for (const char* method : {"sdh", "ksh", "bre", "cca-itq"}) {
    const TuneResult result = Tune(TuneOptionsOf(method), images, &labels, RunContext());
    ASSERT_EQ(result.trials.size(), 5U + 2) << "the grid, and a step up and down";
    EXPECT_GT(result.best.score, 50) << method << ": percent; chance is 33";
    for (const TuneTrial& trial : result.trials) EXPECT_LE(trial.score, result.best.score);
    const MethodSettings chosen = result.Chosen(TuneOptionsOf(method).settings);
    EXPECT_EQ(chosen.options.at("mu"), result.best.ValueOf("mu"));
    EXPECT_EQ(chosen.options.size(), 1U) << method;
    const nlohmann::json config = WriteConfig(TuneOptionsOf(method).settings, result);
    EXPECT_EQ(ReadConfig(config, TuneOptionsOf(method).settings).options.at("mu"),
              result.best.ValueOf("mu"));
    EXPECT_FALSE(config.contains("lambda"));
    EXPECT_THAT(RefusalOf([&] { Tune(TuneOptionsOf(method), images, nullptr, RunContext()); }),
                ::testing::HasSubstr("need the labels"));
  }
}

TEST(Tune, NeedsLabelsForSashAndForClassesHeldOut) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 6, 1);
  const auto refusal = [&](const TuneOptions& options, const Labels* labels) {
    return RefusalOf([&] { Tune(options, images, labels, RunContext()); });
  };
  EXPECT_THAT(refusal(TuneOptionsOf("sash"), nullptr), ::testing::HasSubstr("need the labels"));
  TuneOptions unseen = TuneOptionsOf("sah");
  unseen.unseen_classes = true;
  EXPECT_THAT(refusal(unseen, nullptr), ::testing::HasSubstr("need the labels"));
  const Labels two = SceneClasses(60, 2, 2);
  EXPECT_THAT(refusal(unseen, &two), ::testing::HasSubstr("at least 3 classes"));
}

TEST(Tune, IsTheSameAtAnyNumberOfThreads) {
  const MemoryFeatureSet images = SmallScenes(60, 8, 4, 3);
  const TuneResult one = Tune(TuneOptionsOf("rba"), images, nullptr, RunContext({.threads = 1}));
  const TuneResult four = Tune(TuneOptionsOf("rba"), images, nullptr, RunContext({.threads = 4}));
  for (size_t i = 0; i < one.trials.size(); ++i) {
    EXPECT_EQ(one.trials[i].score, four.trials[i].score);
  }
}

TEST(Tune, RefusesWhatCannotBeTuned) {
  const MemoryFeatureSet images = SmallScenes(5, 8, 4, 3);
  const auto refusal = [&](const TuneOptions& options) {
    return RefusalOf([&] { Tune(options, images, nullptr, RunContext()); });
  };
  EXPECT_THAT(refusal(TuneOptionsOf("itq")),
              ::testing::HasSubstr(
                  "only sav, sah, rba, cibhash, sash, sdh, ksh, bre, cca-itq have constants"));
  EXPECT_THAT(refusal(TuneOptionsOf("sah")), ::testing::HasSubstr("too few"));
  TuneOptions paper = TuneOptionsOf("sah");
  paper.settings.preset = "paper";
  EXPECT_THAT(refusal(paper), ::testing::HasSubstr("literal"));
  const Labels labels = Labels::Single({0, 1});
  EXPECT_THAT(RefusalOf([&] { Tune(TuneOptionsOf("sah"), images, &labels, RunContext()); }),
              ::testing::HasSubstr("2 labels for 5 images"));
}

TuneOptions Whitened(const char* method) {
  TuneOptions options = TuneOptionsOf(method);
  options.settings.options["whiten"] = 1;
  return options;
}

// A view must find another one of its picture. μ and ε, then the number of views; then a step of μ
// up and down.
TEST(Tune, WithViewsAsksWithThemAndChoosesTheWhitening) {
  const MemoryFeatureSet images = SmallViews(60, 8, 4, 1);
  const TuneResult result = Tune(Whitened("itq"), images, nullptr, RunContext());
  EXPECT_EQ(result.criterion, "mAP of finding a view of a held-out picture by another one");
  ASSERT_EQ(result.trials.size(), 3U * 5 + 3 + 2);
  std::set<double> epsilons, views;
  double best = 0;
  for (const TuneTrial& trial : result.trials) {
    epsilons.insert(trial.ValueOf("epsilon"));
    views.insert(trial.ValueOf("views"));
    best = std::max(best, trial.score);
  }
  EXPECT_EQ(epsilons, (std::set<double>{0.03, 0.1, 0.3, 1, 3}));
  EXPECT_EQ(views, (std::set<double>{0, 2, 4}));
  EXPECT_EQ(result.best.score, best);
  EXPECT_GT(best, 30) << "percent; chance is about 18 of 20";
  const MethodSettings chosen = result.Chosen(Whitened("itq").settings);
  for (const char* constant : {"mu", "epsilon", "views"}) {
    EXPECT_EQ(chosen.options.at(constant), result.best.ValueOf(constant)) << constant;
  }
  const nlohmann::json config = WriteConfig(Whitened("itq").settings, result);
  EXPECT_EQ(config.at("whiten"), true);
  EXPECT_TRUE(config.at("views").is_number_integer());
  EXPECT_EQ(ReadConfig(nlohmann::json::parse(config.dump()), TuneOptionsOf("itq").settings).options,
            chosen.options);
  EXPECT_THAT(RefusalOf([&] {
                ReadConfig({{"whiten", 1}}, TuneOptionsOf("itq").settings);
              }),
              ::testing::HasSubstr("\"whiten\""));
}

// The pooling and the whitening, then one constant after the other, each stage around the best so
// far and the others at their defaults.
TEST(Tune, OfSavTriesOneConstantAfterTheOther) {
  const MemoryFeatureSet images = SmallViews(60, 8, 4, 1);
  const TuneOptions options = TuneOptionsOf("sav");
  const TuneResult result = Tune(options, images, nullptr, RunContext());
  EXPECT_EQ(result.criterion, "mAP of finding a view of a held-out picture by another one");

  const OptionValues defaults = FindMethod("sav").values(options.settings);
  OptionValues best;
  for (const char* option :
       {"mu", "epsilon", "temperature", "epochs", "hidden", "views", "learn_pooling"}) {
    best[option] = defaults.at(option);
  }
  std::vector<OptionValues> expected;
  double best_score = -1;
  // Of equals the first is the best.
  const auto choose_from = [&](size_t first) {
    for (size_t i = first; i < std::min(expected.size(), result.trials.size()); ++i) {
      if (result.trials[i].score <= best_score) continue;
      best = result.trials[i].constants;
      best_score = result.trials[i].score;
    }
  };
  for (const double mu : {1, 10, 100}) {
    for (const double epsilon : {0.3, 1.0, 3.0}) {
      expected.push_back(best);
      expected.back()["mu"] = mu;
      expected.back()["epsilon"] = epsilon;
    }
  }
  choose_from(0);
  const auto try_values = [&](const char* option, const std::vector<double>& values) {
    const size_t first = expected.size();
    for (const double value : values) {
      expected.push_back(best);
      expected.back()[option] = value;
    }
    choose_from(first);
  };
  try_values("temperature", {0.05, 0.1, 0.2, 0.3, 0.5});
  try_values("epochs", {4, 20, 60});
  try_values("hidden", {0, 1024});
  try_values("views", {2, 4, 0});
  try_values("learn_pooling", {0, 1});
  std::vector<OptionValues> tried;
  for (const TuneTrial& trial : result.trials) tried.push_back(trial.constants);
  EXPECT_EQ(tried, expected) << "there is nothing to refine";
  EXPECT_EQ(result.best.constants, best);
  EXPECT_EQ(result.best.score, best_score);
  for (const TuneTrial& trial : result.trials) EXPECT_TRUE(std::isfinite(trial.score));
  EXPECT_GT(best_score, 50) << "percent; chance is about 18";

  const nlohmann::json config = WriteConfig(options.settings, result);
  EXPECT_TRUE(config.at("learn_pooling").is_boolean());
  EXPECT_TRUE(config.at("hidden").is_number_integer());
  EXPECT_EQ(ReadConfig(config, options.settings).options, best);
}

// Every step of learning to pool reads the pictures again, and none of those held out.
TEST(Tune, OfSavLearnsToPoolWithoutThePicturesThatAreHeldOut) {
  const MemoryFeatureSet images = SmallViews(60, 8, 4, 1);
  const CountingFeatureSet counted(images);
  TuneOptions options = TuneOptionsOf("sav");
  options.settings.options = {{"mu", 10},    {"epsilon", 0.3}, {"temperature", 0.2},
                              {"epochs", 4}, {"hidden", 0},    {"views", 0}};
  const TuneResult result = Tune(options, counted, nullptr, RunContext());
  // The one candidate of five stages, and the two of the last.
  ASSERT_EQ(result.trials.size(), 5U + 2);
  EXPECT_EQ(result.trials[5].ValueOf("learn_pooling"), 0);
  EXPECT_EQ(result.trials[6].ValueOf("learn_pooling"), 1);
  for (const TuneTrial& trial : result.trials) EXPECT_GT(trial.score, 35) << "percent";
  Index held_out = 0;
  for (Index picture = 0; picture < 60; ++picture) {
    if (counted.reads(4 * picture) > 0) {
      EXPECT_GT(counted.reads(4 * picture), 20) << picture;
      continue;
    }
    ++held_out;
    // Once for the records, and once to be pooled by the weights that were learned.
    for (Index i = 1; i < 4; ++i) EXPECT_EQ(counted.reads(4 * picture + i), 2) << picture;
  }
  EXPECT_EQ(held_out, 20);
}

// Six things with ten pictures each, which differ no more than views do. Of the pictures of a thing
// that are held out, another one is as right as the picture itself when classes are searched for.
TEST(Tune, LookingForClassesAlsoAsksForThePicturesMostLike) {
  constexpr Index kThings = 6, kPictures = 10, kEach = 4;
  const MemoryFeatureSet things = SmallViews(kThings, 8, kPictures * kEach, 1);
  MemoryFeatureSet images(8, kEach);
  for (Index i = 0; i < things.size(); ++i) {
    MatrixF descriptors;
    things.Read(i, descriptors);
    images.Add(things.name(i), descriptors);
  }
  TuneOptions options = Whitened("itq");
  options.settings.options["epsilon"] = 0.3;
  options.settings.options["mu"] = 10;
  options.rounds = 0;
  const TuneResult one = Tune(options, images, nullptr, RunContext());
  options.look_for_classes = true;
  const TuneResult both = Tune(options, images, nullptr, RunContext());
  EXPECT_EQ(both.criterion, "mAP of finding views of a held-out picture and of those most like it");
  EXPECT_GT(both.best.score, one.best.score + 5);
}

// The views judge methods that do not learn from them too.
TEST(Tune, WithViewsJudgesOtherMethodsByThemToo) {
  const MemoryFeatureSet images = SmallViews(60, 8, 2, 1);
  TuneOptions options = TuneOptionsOf("rba");
  options.settings.options["lambda"] = 0.01;
  options.rounds = 0;
  const TuneResult result = Tune(options, images, nullptr, RunContext());
  EXPECT_THAT(result.criterion, ::testing::HasSubstr("by another one"));
  EXPECT_GT(result.best.score, 25);
  EXPECT_FALSE(result.Chosen(options.settings).options.contains("epsilon"));
}

// Of a held-out picture three views are read, once, for the criterion, and it is not learned from:
// what is, is read for every μ.
TEST(Tune, NeverLearnsFromViewsOfHeldOutPictures) {
  const MemoryFeatureSet images = SmallViews(30, 8, 5, 1);
  const CountingFeatureSet counted(images);
  TuneOptions options = Whitened("itq");
  options.rounds = 0;
  Tune(options, counted, nullptr, RunContext());
  Index held_out = 0;
  for (Index picture = 0; picture < 30; ++picture) {
    std::vector<int> reads;
    for (Index i = 0; i < 5; ++i) reads.push_back(counted.reads(5 * picture + i));
    if (reads[3] == 0) {
      ++held_out;
      EXPECT_THAT(reads, ::testing::ElementsAre(0, 1, 1, 0, 1)) << picture;
    } else {
      EXPECT_THAT(reads, ::testing::ElementsAre(4, 3, 3, 3, 3)) << "once as a record, " << picture;
    }
  }
  EXPECT_EQ(held_out, 10);
}

// A view without descriptors has no code: its picture is left out, and no other takes its place.
TEST(Tune, LeavesOutPicturesWithAnEmptyView) {
  TuneOptions options = Whitened("itq");
  options.settings.bits = 8;
  options.settings.options["mu"] = 1;
  options.settings.options["views"] = 0;
  options.rounds = 0;
  const auto score = [&](const std::set<Index>& empty) {
    return Tune(options, SmallViews(90, 8, 3, 1, empty), nullptr, RunContext()).best.score;
  };
  const double all = score({});
  EXPECT_GT(all, 30) << "percent; chance is about 13";
  std::set<Index> some;
  for (Index picture = 0; picture < 90; picture += 6) some.insert(3 * picture + picture / 6 % 3);
  EXPECT_GT(score(some), 0.8 * all);
}

TEST(Tune, OfWhitenedMethodsNeedsViews) {
  const MemoryFeatureSet images = SmallScenes(30, 8, 4, 3);
  EXPECT_THAT(RefusalOf([&] { Tune(Whitened("itq"), images, nullptr, RunContext()); }),
              ::testing::HasSubstr("itself and its views"));
  EXPECT_THAT(RefusalOf([&] { Tune(TuneOptionsOf("kmh"), images, nullptr, RunContext()); }),
              ::testing::HasSubstr("to tune without whitening"));
}

TEST(Config, OfSashHasAnAlphaAndThatOfSahHasNone) {
  TuneResult result;
  result.best = {
      .constants = {{"lambda", 0.1}, {"beta", 0.2}, {"gamma", 3}, {"mu", 4}, {"alpha", 0.6}},
      .score = 50};
  result.trials = {result.best};
  const nlohmann::json config = WriteConfig(TuneOptionsOf("sash").settings, result);
  EXPECT_EQ(config["alpha"], 0.6);
  const MethodSettings settings =
      ReadConfig(nlohmann::json::parse(config.dump()), TuneOptionsOf("sash").settings);
  EXPECT_EQ(settings.options.at("alpha"), 0.6);
  EXPECT_EQ(settings.options.at("gamma"), 3);
  MethodSettings set = TuneOptionsOf("sash").settings;
  set.options["alpha"] = 0.9;
  EXPECT_EQ(ReadConfig(config, set).options.at("alpha"), 0.9);
  EXPECT_FALSE(WriteConfig(TuneOptionsOf("sah").settings, result).contains("alpha"));
  EXPECT_FALSE(WriteConfig(TuneOptionsOf("rba").settings, result).contains("gamma"));
}

TEST(Config, ComesBackAndDoesNotOverrideWhatIsSet) {
  TuneResult result;
  result.best = {.constants = {{"lambda", 0.1}, {"beta", 0.2}, {"gamma", 3}, {"mu", 4}},
                 .score = 50};
  result.trials = {result.best};
  const nlohmann::json config = WriteConfig(TuneOptionsOf("sah").settings, result);
  MethodSettings settings = TuneOptionsOf("sah").settings;
  settings.options["gamma"] = 7;
  settings = ReadConfig(config, settings);
  EXPECT_EQ(settings.options.at("lambda"), 0.1);
  EXPECT_EQ(settings.options.at("beta"), 0.2);
  EXPECT_EQ(settings.options.at("gamma"), 7);
  EXPECT_EQ(settings.options.at("mu"), 4);
  EXPECT_THAT(RefusalOf([&] { ReadConfig(config, TuneOptionsOf("rba").settings); }),
              ::testing::HasSubstr("for \"sah\", not for rba"));
  EXPECT_THAT(RefusalOf([&] {
                ReadConfig({{"lambdda", 1}}, settings);
              }),
              ::testing::HasSubstr("\"lambdda\""));
  EXPECT_THAT(RefusalOf([&] {
                ReadConfig({{"mu", "large"}}, settings);
              }),
              ::testing::HasSubstr("\"mu\""));
}

}  // namespace
}  // namespace bitpool
