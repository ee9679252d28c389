#include "bitpool/training/methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <utility>

#include "bitpool/hash/baselines/testing.h"
#include "bitpool/hash/sash.h"
#include "bitpool/hash/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/training/testing.h"

namespace bitpool {
namespace {

TEST(Methods, EveryMethodTrainsEncodesAndReconstructs) {
  const MatrixF x = ClusteredSamples(16, 1200, 1);
  const double variance = (x.colwise() - x.rowwise().mean()).squaredNorm() / 1200;
  for (const std::string& method : MethodNames(LearnsFromVectorsAlone)) {
    const MatrixColumns source(x);
    const auto trained = TrainOnVectors({.method = method, .bits = 8}, {.vectors = source},
                                        RunContext({.threads = 2}));
    EXPECT_EQ(trained.model.method, method);
    EXPECT_EQ(trained.model.encoder->kind(), FindMethod(method).encoder.name);
    EXPECT_EQ(trained.model.bits(), 8);
    EXPECT_EQ(trained.model.dimension(), 16);
    EXPECT_EQ(trained.summary.samples, 1200) << method;
    const double error = ReconstructionError(trained.model, MatrixColumns(x), RunContext());
    EXPECT_LT(error, variance) << method;
    EXPECT_THAT(RefusalOf([&] { trained.model.encoder->Project(MatrixF::Zero(15, 1)); }),
                ::testing::HasSubstr("dimension 15"));
  }
}

// The same bad data for all: an error that says what is wrong, whatever the method.
TEST(Methods, EveryMethodRefusesWhatCannotBeLearnedFrom) {
  MatrixF bad = ClusteredSamples(4, 100, 2);
  bad(1, 7) = std::nanf("");
  const MatrixF constant = MatrixF::Constant(4, 100, 3), none(4, 0), one = MatrixF::Ones(4, 1);
  for (const std::string& method : MethodNames(LearnsFromVectorsAlone)) {
    const auto refusal = [&](const MatrixF& x) {
      const MatrixColumns source(x);
      return RefusalOf([&] {
        TrainOnVectors({.method = method, .bits = 2}, {.vectors = source}, RunContext());
      });
    };
    EXPECT_THAT(refusal(bad), ::testing::HasSubstr("column 7")) << method;
    EXPECT_THAT(refusal(constant), ::testing::HasSubstr("all alike")) << method;
    EXPECT_THAT(refusal(none), ::testing::HasSubstr("0 training samples")) << method;
    EXPECT_THAT(refusal(one), ::testing::HasSubstr("1 training samples")) << method;
  }
}

// All that learn from vectors and labels.
std::vector<std::string> LabelledVectorMethods() {
  return MethodNames([](const Method& method) {
    return method.needs_labels && method.learns_from == LearnsFrom::kVectors;
  });
}

// Mean Hamming distances of all pairs: {of the same class, of different classes}.
std::pair<double, double> ClassDistances(const BinaryCodes& codes, const Labels& labels) {
  double same = 0, other = 0, same_pairs = 0, other_pairs = 0;
  for (Index a = 0; a < codes.size(); ++a) {
    for (Index b = 0; b < a; ++b) {
      int distance = 0;
      for (size_t byte = 0; byte < codes.code(a).size(); ++byte) {
        distance += std::popcount(static_cast<uint8_t>(codes.code(a)[byte] ^ codes.code(b)[byte]));
      }
      const bool alike = ShareClass(labels.of(a), labels.of(b));
      (alike ? same : other) += distance;
      ++(alike ? same_pairs : other_pairs);
    }
  }
  return {same / same_pairs, other / other_pairs};
}

TEST(Methods, EveryMethodWithLabelsLearnsTheClasses) {
  const MatrixF x = ClassVectors(8, 150, 3, 1), fresh = ClassVectors(8, 60, 3, 2);
  const Labels labels = SceneClasses(150, 3, 3), fresh_labels = SceneClasses(60, 3, 3);
  const auto methods = LabelledVectorMethods();
  EXPECT_THAT(methods, ::testing::ElementsAre("sdh", "ksh", "bre", "cca-itq"));
  for (const std::string& method : methods) {
    const MatrixColumns source(x);
    const auto trained =
        TrainOnVectors({.method = method, .bits = 8}, {.vectors = source, .labels = &labels},
                       RunContext({.threads = 2}));
    EXPECT_EQ(trained.model.method, method);
    EXPECT_EQ(trained.model.encoder->kind(), FindMethod(method).encoder.name);
    EXPECT_EQ(trained.model.bits(), 8);
    EXPECT_EQ(trained.model.dimension(), 8);
    EXPECT_EQ(trained.summary.samples, 150) << method;
    const double variance = (x.colwise() - x.rowwise().mean()).squaredNorm() / 150;
    EXPECT_LT(ReconstructionError(trained.model, MatrixColumns(x), RunContext()), variance);
    const auto [same, other] = ClassDistances(
        EncodeAll(*trained.model.encoder, MatrixColumns(fresh), RunContext()), fresh_labels);
    EXPECT_LT(2 * same, other) << method;
  }
}

TEST(Methods, EveryMethodWithLabelsRefusesWhatCannotBeLearnedFrom) {
  MatrixF bad = ClassVectors(4, 99, 3, 2);
  bad(1, 7) = std::nanf("");
  const MatrixF constant = MatrixF::Constant(4, 99, 3), none(4, 0), one = MatrixF::Ones(4, 1);
  const MatrixF good = ClassVectors(4, 99, 3, 2);
  for (const std::string& method : LabelledVectorMethods()) {
    const auto refusal = [&](const MatrixF& x, const Labels& labels) {
      const MatrixColumns source(x);
      return RefusalOf([&] {
        TrainOnVectors({.method = method, .bits = 2}, {.vectors = source, .labels = &labels},
                       RunContext());
      });
    };
    EXPECT_THAT(refusal(bad, SceneClasses(99, 3, 3)), ::testing::HasSubstr("column 7")) << method;
    EXPECT_THAT(refusal(constant, SceneClasses(99, 3, 3)), ::testing::HasSubstr("all alike"))
        << method;
    EXPECT_THAT(refusal(none, SceneClasses(0, 3, 3)), ::testing::HasSubstr("0 training samples"))
        << method;
    EXPECT_THAT(refusal(one, SceneClasses(1, 3, 3)), ::testing::HasSubstr("1 training samples"))
        << method;
    EXPECT_THAT(refusal(good, SceneClasses(98, 3, 3)), ::testing::HasSubstr("98 ")) << method;
    EXPECT_THAT(refusal(good, SceneClasses(99, 1, 1)), ::testing::HasSubstr("class")) << method;
  }
}

TEST(Methods, LabelsGoWithTheMethodsThatLearnFromThem) {
  const Labels labels = Labels::Single({0, 1, 0});
  for (const Method& method : Methods()) {
    const bool needs = method.needs_labels;
    const auto refusal = [&](const Labels* given, Index samples) {
      return RefusalOf([&] { RequireLabels(method, given, samples); });
    };
    EXPECT_EQ(refusal(needs ? &labels : nullptr, 3), "(no error)") << method.name;
    EXPECT_THAT(refusal(needs ? nullptr : &labels, 3),
                ::testing::HasSubstr(needs ? "learns from labels" : "takes no labels"))
        << method.name;
    if (needs) {
      EXPECT_EQ(refusal(&labels, 4), "3 labels for 4 samples");
    }
  }
  EXPECT_TRUE(FindMethod("sash").needs_labels);
  EXPECT_FALSE(FindMethod("sah").needs_labels);
  EXPECT_FALSE(FindMethod("itq").needs_labels);
}

TEST(Methods, AreTrainedOnWhatTheyLearnFrom) {
  const MatrixF x = ClassVectors(4, 3, 2, 1);
  const MatrixColumns source(x);
  const Labels labels = Labels::Single({0, 1, 0});
  const auto on_vectors = [&](const char* method, const Labels* given) {
    return RefusalOf([&] {
      TrainOnVectors({.method = method, .bits = 2}, {.vectors = source, .labels = given},
                     RunContext());
    });
  };
  EXPECT_EQ(on_vectors("sah", nullptr),
            "the method sah learns from local features, not from vectors");
  EXPECT_EQ(on_vectors("sash", &labels),
            "the method sash learns from local features, not from vectors");
  EXPECT_THAT(on_vectors("itq", &labels), ::testing::HasSubstr("itq takes no labels"));
  EXPECT_THAT(on_vectors("best", &labels),
              ::testing::HasSubstr("method \"best\": expected one of sav, sah, rba, ba, itq"));
  MemoryRecords records(4);
  ReduceImages(SmallScenes(6, 4, 2, 1), true, records, RunContext());
  EXPECT_EQ(RefusalOf([&] {
              TrainOnRecords({.method = "itq", .bits = 2}, {.records = records}, RunContext());
            }),
            "the method itq learns from vectors, not from local features");
}

// Names, titles and options are what users see; the order is that of the help.
TEST(Methods, AreListedOnceWithTheirOptions) {
  EXPECT_THAT(MethodNames(),
              ::testing::ElementsAre("sav", "sah", "rba", "ba", "itq", "kmh", "sph", "pcah", "lsh",
                                     "cibhash", "sadh", "graphbit", "deepbit", "sash", "sdh", "ksh",
                                     "bre", "cca-itq"));
  for (const Method& method : Methods()) {
    EXPECT_FALSE(method.title.empty() || method.publication.empty()) << method.name;
    EXPECT_EQ(method.train_on_vectors != nullptr, method.learns_from == LearnsFrom::kVectors);
    EXPECT_EQ(method.train_on_records != nullptr, method.learns_from != LearnsFrom::kVectors);
    for (const char* option : {"bits", "mu", "normalise"}) {
      EXPECT_NE(method.FindOption(option), nullptr) << method.name << " " << option;
    }
    for (const OptionDescription& option : method.options) {
      EXPECT_FALSE(option.help.empty()) << method.name << " " << option.name;
      EXPECT_TRUE(option.range.Contains(option.default_value)) << method.name << option.name;
      EXPECT_EQ(option.of_pooling, option.name == "mu" || option.name == "normalise");
    }
  }
}

// What the registry says of an option is what its method does: the default is the value that is
// used when nothing is set, and the range is that of the method's own checks.
// Who learns the pooling and who writes checkpoints of a contrast is said by the entries alone.
TEST(Methods, SavAloneLearnsThePoolingAndOnlyWhereItIsAsked) {
  for (const Method& method : Methods()) {
    const bool is_sav = method.name == "sav";
    EXPECT_EQ(method.has_contrast, is_sav) << method.name;
    ASSERT_EQ(static_cast<bool>(method.pooling_learner), is_sav) << method.name;
  }
  const Method& sav = FindMethod("sav");
  EXPECT_FALSE(sav.pooling_learner({.method = "sav"}));
  EXPECT_TRUE(sav.pooling_learner({.method = "sav", .options = {{"learn_pooling", 1}}}));
}

TEST(Methods, WhoWritesCheckpoints) {
  EXPECT_EQ(MethodNames(WritesCheckpoints), (std::vector<std::string>{"sav", "sah", "sash"}));
}

TEST(Methods, OptionsAreAsTheRegistrySays) {
  for (const Method& method : Methods()) {
    const MethodSettings plain{.method = method.name};
    for (const OptionDescription& option : method.options) {
      EXPECT_EQ(ValueOf(plain, option.name), option.default_value) << method.name << option.name;
      if (option.name == "bits" || option.type == OptionType::kSwitch) continue;
      const auto refused = [&](double value) {
        MethodSettings settings = plain;
        settings.options[option.name] = value;
        return RefusalOf([&] { RequireValid(settings); }) != "(no error)";
      };
      const double least = option.range.least;
      const bool own_check = method.learns_from == LearnsFrom::kLocalFeatures || !option.of_pooling;
      if (own_check) {
        EXPECT_EQ(refused(least), option.range.above_least) << method.name << option.name;
        EXPECT_TRUE(refused(least - 1)) << method.name << " " << option.name;
      }
      EXPECT_FALSE(refused(least + 1)) << method.name << " " << option.name;
    }
  }
}

// One place for every default: what the program's users got all along.
TEST(Methods, DefaultsAreThoseOfTheOptionStructs) {
  const auto value = [](const char* method, const char* option) {
    return ValueOf({.method = method}, option);
  };
  EXPECT_EQ(value("itq", "mu"), 10);
  EXPECT_EQ(value("sdh", "mu"), 10);
  EXPECT_EQ(value("sah", "mu"), 10);
  EXPECT_EQ(value("sash", "mu"), 100);
  EXPECT_EQ(value("rba", "lambda"), 0.01);
  EXPECT_EQ(value("rba", "beta"), 2e-4);
  EXPECT_EQ(value("sash", "lambda"), 1e-3);
  EXPECT_EQ(value("sash", "beta"), 1e-5);
  EXPECT_EQ(value("sash", "gamma"), 1);
  EXPECT_EQ(value("sash", "alpha"), 0.01);
  EXPECT_TRUE(SashOptions().joint.codes_from_labels);
  EXPECT_EQ(value("sah", "iterations"), 4);
  EXPECT_EQ(value("kmh", "iterations"), 50);
}

TEST(Methods, APresetIsTakenWhereNothingIsSet) {
  MethodSettings settings{.method = "sash", .bits = 12, .preset = "paper"};
  const SashOptions paper = SashOptions::Paper(12);
  EXPECT_EQ(ValueOf(settings, "bits"), 12);
  EXPECT_EQ(ValueOf(settings, "alpha"), paper.alpha);
  EXPECT_EQ(ValueOf(settings, "lambda"), paper.joint.rba.lambda);
  settings.options = {{"alpha", 0.25}, {"lambda", 0.5},   {"beta", 0.75},  {"gamma", 2},
                      {"mu", 3},       {"iterations", 4}, {"normalise", 0}};
  for (const auto& [name, value] : settings.options) EXPECT_EQ(ValueOf(settings, name), value);
  settings.options["alpha"] = -1;
  EXPECT_THAT(RefusalOf([&] { RequireValid(settings); }), ::testing::HasSubstr("alpha"));
  settings = {.method = "sah", .preset = "best"};
  EXPECT_EQ(RefusalOf([&] { RequireValid(settings); }),
            "the method sah has no preset \"best\"; expected default or paper");
}

// What is set reaches the trainer: the model differs where it must.
TEST(Methods, WhatIsSetIsTrainedWith) {
  MemoryRecords records(8);
  ReduceImages(SmallScenes(60, 8, 6, 1), true, records, RunContext());
  const Labels labels = SceneClasses(60, 6, 3);
  SashOptions options;
  options.joint.bits = 6;
  options.joint.rba.lambda = 0.02;
  options.joint.rba.beta = 0.001;
  options.joint.gamma = 2;
  options.joint.mu = 3;
  options.joint.iterations = 2;
  options.alpha = 0.3;
  const auto expected = TrainSash(options, records, labels, RunContext());
  const MethodSettings settings{.method = "sash",
                                .bits = 6,
                                .options = {{"lambda", 0.02},
                                            {"beta", 0.001},
                                            {"gamma", 2},
                                            {"mu", 3},
                                            {"iterations", 2},
                                            {"alpha", 0.3}}};
  const auto found =
      TrainOnRecords(settings, {.records = records, .labels = &labels}, RunContext());
  ExpectSameModel(found.model, expected.model);
}

TEST(Methods, RefuseSettingsTheyDoNotHave) {
  const auto refusal = [&](const MethodSettings& settings) {
    return RefusalOf([&] { RequireValid(settings); });
  };
  for (const char* option : {"lambda", "beta", "gamma", "alpha", "iterations"}) {
    EXPECT_EQ(refusal({.method = "sdh", .options = {{option, 1}}}),
              std::string("the method sdh has no ") + option + " to set");
  }
  EXPECT_EQ(refusal({.method = "sdh", .preset = "paper"}), "the method sdh has no preset");
  EXPECT_EQ(refusal({.method = "itq", .options = {{"lambda", 1}}}),
            "the method itq has no lambda to set");
  EXPECT_EQ(refusal({.method = "kmh", .options = {{"lambda", 1}}}),
            "the method kmh has no lambda to set");
  EXPECT_EQ(refusal({.method = "sah", .options = {{"alpha", 1}}}),
            "the method sah has no alpha to set");
  EXPECT_EQ(refusal({.method = "sah", .options = {{"iterations", 1.5}}}),
            "iterations: expected a whole number, got 1.5");
  EXPECT_EQ(refusal({.method = "sah", .options = {{"iterations", 1e308}}}),
            "iterations: expected a whole number from -2147483648 to 2147483647, got 1e+308");
  EXPECT_THAT(refusal({.method = "best"}),
              ::testing::HasSubstr("method \"best\": expected one of"));
  const MatrixF x = ClusteredSamples(4, 50, 2);
  const MatrixColumns source(x);
  EXPECT_EQ(RefusalOf([&] {
              TrainOnVectors({.method = "lsh", .bits = 2, .preset = "paper"}, {.vectors = source},
                             RunContext());
            }),
            "the method lsh has no preset");
}

// The keys and types of files that older versions wrote and that older versions may read.
TEST(Methods, DescribesATraining) {
  MethodSettings settings{.method = "rba", .bits = 16, .options = {{"beta", 0.5}}};
  TrainingSummary summary{.samples = 9};
  summary.iterations.push_back({.objective = 2});
  const nlohmann::json found = DescribeTraining(settings, summary, 4);
  EXPECT_EQ(
      found["options"].dump(),
      R"({"beta":0.5,"bits":16,"method":"rba","normalise":true,"preset":"default","seed":4})");
  EXPECT_EQ(found["iterations"][0]["objective"], 2);
  settings = {.method = "sash",
              .bits = 8,
              .preset = "paper",
              .options = {{"iterations", 3}, {"mu", 5}, {"normalise", 0}}};
  EXPECT_EQ(DescribeSettings(settings, 1).dump(),
            R"({"bits":8,"iterations":3,"method":"sash","mu":5.0,"normalise":false,)"
            R"("preset":"paper","seed":1})");
}

}  // namespace
}  // namespace bitpool
