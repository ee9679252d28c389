#include "bitpool/training/hash_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <utility>

#include "bitpool/hash/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/training/testing.h"

namespace bitpool {
namespace {

TEST(HashMethods, EveryMethodTrainsEncodesAndReconstructs) {
  const MatrixF x = ClusteredSamples(16, 1200, 1);
  const double variance = (x.colwise() - x.rowwise().mean()).squaredNorm() / 1200;
  for (const HashMethod& method : VectorMethods()) {
    const auto trained = TrainHash({.method = std::string(method.name), .bits = 8},
                                   MatrixColumns(x), RunContext({.threads = 2}));
    EXPECT_EQ(trained.model.method, method.name);
    EXPECT_EQ(trained.model.bits(), 8);
    EXPECT_EQ(trained.model.dimension(), 16);
    EXPECT_EQ(trained.summary.samples, 1200) << method.name;
    const double error = ReconstructionError(trained.model, MatrixColumns(x), RunContext());
    EXPECT_LT(error, variance) << method.name;
    EXPECT_THAT(RefusalOf([&] { trained.model.encoder->Project(MatrixF::Zero(15, 1)); }),
                testing::HasSubstr("dimension 15"));
  }
}

// The same bad data for all: an error that says what is wrong, whatever the method.
TEST(HashMethods, EveryMethodRefusesWhatCannotBeLearnedFrom) {
  MatrixF bad = ClusteredSamples(4, 100, 2);
  bad(1, 7) = std::nanf("");
  const MatrixF constant = MatrixF::Constant(4, 100, 3), none(4, 0), one = MatrixF::Ones(4, 1);
  for (const HashMethod& method : VectorMethods()) {
    const HashSettings settings{.method = std::string(method.name), .bits = 2};
    const auto refusal = [&](const MatrixF& x) {
      return RefusalOf([&] { TrainHash(settings, MatrixColumns(x), RunContext()); });
    };
    EXPECT_THAT(refusal(bad), testing::HasSubstr("column 7")) << method.name;
    EXPECT_THAT(refusal(constant), testing::HasSubstr("all alike")) << method.name;
    EXPECT_THAT(refusal(none), testing::HasSubstr("0 training samples")) << method.name;
    EXPECT_THAT(refusal(one), testing::HasSubstr("1 training samples")) << method.name;
  }
}

// All that learn from vectors and labels.
std::vector<std::string> LabelledVectorMethods() {
  std::vector<std::string> names;
  for (const HashMethod& method : SupervisedMethods()) {
    if (method.name != "sash") names.emplace_back(method.name);
  }
  return names;
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

TEST(HashMethods, EveryMethodWithLabelsLearnsTheClasses) {
  const MatrixF x = ClassVectors(8, 150, 3, 1), fresh = ClassVectors(8, 60, 3, 2);
  const Labels labels = SceneClasses(150, 3, 3), fresh_labels = SceneClasses(60, 3, 3);
  const auto methods = LabelledVectorMethods();
  EXPECT_THAT(methods, testing::ElementsAre("sdh", "ksh", "bre", "cca-itq"));
  for (const std::string& method : methods) {
    const auto trained = TrainHash({.method = method, .bits = 8}, MatrixColumns(x), labels,
                                   RunContext({.threads = 2}));
    EXPECT_EQ(trained.model.method, method);
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

TEST(HashMethods, EveryMethodWithLabelsRefusesWhatCannotBeLearnedFrom) {
  MatrixF bad = ClassVectors(4, 99, 3, 2);
  bad(1, 7) = std::nanf("");
  const MatrixF constant = MatrixF::Constant(4, 99, 3), none(4, 0), one = MatrixF::Ones(4, 1);
  const MatrixF good = ClassVectors(4, 99, 3, 2);
  for (const std::string& method : LabelledVectorMethods()) {
    const auto refusal = [&](const MatrixF& x, const Labels& labels) {
      return RefusalOf([&] {
        TrainHash({.method = method, .bits = 2}, MatrixColumns(x), labels, RunContext());
      });
    };
    EXPECT_THAT(refusal(bad, SceneClasses(99, 3, 3)), testing::HasSubstr("column 7")) << method;
    EXPECT_THAT(refusal(constant, SceneClasses(99, 3, 3)), testing::HasSubstr("all alike"))
        << method;
    EXPECT_THAT(refusal(none, SceneClasses(0, 3, 3)), testing::HasSubstr("0 training samples"))
        << method;
    EXPECT_THAT(refusal(one, SceneClasses(1, 3, 3)), testing::HasSubstr("1 training samples"))
        << method;
    EXPECT_THAT(refusal(good, SceneClasses(98, 3, 3)), testing::HasSubstr("98 ")) << method;
    EXPECT_THAT(refusal(good, SceneClasses(99, 1, 1)), testing::HasSubstr("class")) << method;
  }
}

TEST(HashMethods, LabelsGoWithTheMethodsThatLearnFromThem) {
  const Labels labels = Labels::Single({0, 1, 0});
  for (const HashMethod& method : FeatureMethods()) {
    const bool needs = NeedsLabels(method.name);
    const auto refusal = [&](const Labels* given, Index samples) {
      return RefusalOf([&] { RequireLabels(method.name, given, samples); });
    };
    EXPECT_EQ(refusal(needs ? &labels : nullptr, 3), "(no error)") << method.name;
    EXPECT_THAT(refusal(needs ? nullptr : &labels, 3),
                testing::HasSubstr(needs ? "learns from labels" : "takes no labels"))
        << method.name;
    if (needs) {
      EXPECT_EQ(refusal(&labels, 4), "3 labels for 4 samples");
    }
  }
  EXPECT_TRUE(NeedsLabels("sash"));
  EXPECT_FALSE(NeedsLabels("sah"));
  EXPECT_FALSE(NeedsLabels("itq"));
  const MatrixF x = ClassVectors(4, 3, 2, 1);
  for (const char* method : {"itq", "sash", "best"}) {
    EXPECT_THAT(RefusalOf([&] {
                  TrainHash({.method = method, .bits = 2}, MatrixColumns(x), labels, RunContext());
                }),
                testing::HasSubstr(method));
  }
}

TEST(HashMethods, RefusesSettingsAMethodWithLabelsDoesNotHave) {
  const MatrixF x = ClassVectors(4, 30, 2, 1);
  const Labels labels = SceneClasses(30, 2, 2);
  const auto refusal = [&](const auto& change) {
    HashSettings settings{.method = "sdh", .bits = 2};
    change(settings);
    return RefusalOf([&] { TrainHash(settings, MatrixColumns(x), labels, RunContext()); });
  };
  EXPECT_EQ(refusal([](HashSettings& s) { s.lambda = 1; }), "the method sdh has no lambda to set");
  EXPECT_EQ(refusal([](HashSettings& s) { s.beta = 1; }), "the method sdh has no beta to set");
  EXPECT_EQ(refusal([](HashSettings& s) { s.gamma = 1; }), "the method sdh has no gamma to set");
  EXPECT_EQ(refusal([](HashSettings& s) { s.alpha = 1; }), "the method sdh has no alpha to set");
  EXPECT_EQ(refusal([](HashSettings& s) { s.paper = true; }), "the method sdh has no preset");
  EXPECT_THAT(refusal([](HashSettings& s) { s.iterations = 1; }),
              testing::HasSubstr("number of iterations"));
}

TEST(HashMethods, TheOptionsOfSashAreItsDefaultsAndWhatIsSet) {
  HashSettings settings{.method = "sash", .bits = 12};
  const SashOptions defaults = SashOptions::Default(12), paper = SashOptions::Paper(12);
  EXPECT_EQ(SashOptionsFrom(settings).joint.bits, 12);
  EXPECT_EQ(SashOptionsFrom(settings).joint.gamma, defaults.joint.gamma);
  EXPECT_EQ(SashOptionsFrom(settings).alpha, defaults.alpha);
  settings.paper = true;
  EXPECT_EQ(SashOptionsFrom(settings).alpha, paper.alpha);
  EXPECT_EQ(SashOptionsFrom(settings).joint.rba.lambda, paper.joint.rba.lambda);
  settings = {.method = "sash", .bits = 12};
  settings.alpha = 0.25;
  settings.lambda = 0.5;
  settings.beta = 0.75;
  settings.gamma = 2;
  settings.mu = 3;
  settings.iterations = 4;
  settings.normalise = false;
  const SashOptions set = SashOptionsFrom(settings);
  EXPECT_EQ(set.alpha, 0.25);
  EXPECT_EQ(set.joint.rba.lambda, 0.5);
  EXPECT_EQ(set.joint.rba.beta, 0.75);
  EXPECT_EQ(set.joint.gamma, 2);
  EXPECT_EQ(set.joint.mu, 3);
  EXPECT_EQ(set.joint.iterations, 4);
  EXPECT_FALSE(set.joint.normalise);
  settings.alpha = -1;
  EXPECT_THAT(RefusalOf([&] { SashOptionsFrom(settings); }), testing::HasSubstr("alpha"));
  settings = {.method = "sah", .bits = 12};
  settings.alpha = 1;
  EXPECT_EQ(RefusalOf([&] { SahOptionsFrom(settings); }), "the method sah has no alpha to set");
}

TEST(HashMethods, RefusesSettingsAMethodDoesNotHave) {
  const MatrixF x = ClusteredSamples(4, 50, 2);
  const auto refusal = [&](const HashSettings& settings) {
    return RefusalOf([&] { TrainHash(settings, MatrixColumns(x), RunContext()); });
  };
  HashSettings settings{.method = "itq", .bits = 2};
  settings.lambda = 1;
  EXPECT_EQ(refusal(settings), "the method itq has no lambda to set");
  settings = {.method = "lsh", .bits = 2, .paper = true};
  EXPECT_EQ(refusal(settings), "the method lsh has no preset");
  settings = {.method = "pcah", .bits = 2};
  settings.iterations = 3;
  EXPECT_THAT(refusal(settings), testing::HasSubstr("number of iterations"));
  EXPECT_THAT(refusal({.method = "best"}),
              testing::HasSubstr("method \"best\": expected one of rba, ba, itq"));
}

TEST(HashMethods, DescribesATraining) {
  HashSettings settings{.method = "rba", .bits = 16};
  settings.beta = 0.5;
  TrainingSummary summary{.samples = 9};
  summary.iterations.push_back({.objective = 2});
  const nlohmann::json found = DescribeTraining(settings, summary, 4);
  EXPECT_EQ(found["options"]["beta"], 0.5);
  EXPECT_FALSE(found["options"].contains("lambda"));
  EXPECT_FALSE(found["options"].contains("alpha"));
  EXPECT_EQ(found["options"]["seed"], 4);
  EXPECT_EQ(found["iterations"][0]["objective"], 2);
}

}  // namespace
}  // namespace bitpool
