#include "bitpool/pipeline/hash_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bitpool/hash/testing.h"
#include "bitpool/linalg/testing.h"

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
  EXPECT_EQ(found["options"]["seed"], 4);
  EXPECT_EQ(found["iterations"][0]["objective"], 2);
}

}  // namespace
}  // namespace bitpool
