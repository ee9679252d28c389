#include "bitpool/experiments/run_figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "bitpool/hash/testing.h"
#include "bitpool/io/testing.h"
#include "bitpool/training/methods.h"

namespace bitpool {
namespace {

using testing::ExpectError;

RunFigures SomeFigures() {
  return {.metrics = {{"mAP", 100.0 / 3}, {"nothing", std::nan("")}},
          .model = "0123",
          .shown = {{.query = "a.jpg",
                     .results = {{.name = "b.jpg", .distance = 3, .right = true},
                                 {.name = "c.jpg", .distance = 4, .right = false}}}}};
}

TEST(RunFigures, AreTheSameAfterJson) {
  const RunKey key{.method = "sah", .bits = 32, .seed = std::numeric_limits<uint64_t>::max()};
  const std::string text = ToJson(key, SomeFigures()).dump();
  const auto [same_key, same] = FiguresFromJson(nlohmann::json::parse(text));
  EXPECT_EQ(same_key, key);
  EXPECT_EQ(same.metrics.at("mAP"), 100.0 / 3) << "to the last bit";
  EXPECT_TRUE(std::isnan(same.metrics.at("nothing")));
  EXPECT_EQ(same.model, "0123");
  ASSERT_EQ(same.shown.size(), 1U);
  ASSERT_EQ(same.shown[0].results.size(), 2U);
  EXPECT_EQ(same.shown[0].results[1].name, "c.jpg");
  EXPECT_EQ(same.shown[0].results[1].distance, 4);
  EXPECT_TRUE(same.shown[0].results[0].right);
}

TEST(RunFigures, OtherJsonIsCorrupt) {
  for (const char* text : {"{}", "[]", R"({"method": "sah", "bits": "x", "seed": 1})",
                           R"({"method": "sah", "bits": 8, "seed": 1, "metrics": {"mAP": "x"}})"}) {
    ExpectError(ErrorCode::kCorrupt, {"expected shape"},
                [&] { FiguresFromJson(nlohmann::json::parse(text)); });
  }
}

TEST(RunFigures, AreMadeOnce) {
  FigureStore store;
  int made = 0;
  const auto make = [&] {
    ++made;
    return SomeFigures();
  };
  FindOrMake(&store, {"sah", 8, 1}, make);
  FindOrMake(&store, {"sah", 8, 1}, make);
  EXPECT_EQ(made, 1);
  FindOrMake(&store, {"sah", 8, 2}, make);
  FindOrMake(&store, {"sah", 16, 1}, make);
  FindOrMake(&store, {"rba", 8, 1}, make);
  EXPECT_EQ(made, 4);
  FindOrMake(nullptr, {"sah", 8, 1}, make);
  FindOrMake(nullptr, {"sah", 8, 1}, make);
  EXPECT_EQ(made, 6) << "nothing is kept without a store";
}

TEST(RunFigures, ADigestTellsModelsApart) {
  const MatrixF x = ClusteredSamples(6, 100, 1);
  const MatrixColumns source(x);
  const auto digest = [&](const MethodSettings& settings, uint64_t seed) {
    return ModelDigest(
        TrainOnVectors(settings, {.vectors = source}, RunContext({.threads = 1, .seed = seed}))
            .model);
  };
  const MethodSettings itq{.method = "itq", .bits = 4};
  EXPECT_EQ(digest(itq, 1), digest(itq, 1));
  EXPECT_NE(digest(itq, 1), digest(itq, 2));
  EXPECT_NE(digest(itq, 1), digest({.method = "rba", .bits = 4}, 1));

  HashModel model = TrainOnVectors(itq, {.vectors = source}, RunContext()).model;
  model.pooling = PoolingRecipe();
  const std::string plain = ModelDigest(model);
  model.pooling->attention = VectorF::Ones(6);
  EXPECT_NE(ModelDigest(model), plain);
  model.pooling->attention = {};
  model.pooling->metric = MatrixF::Identity(6, 6);
  EXPECT_NE(ModelDigest(model), plain);
}

}  // namespace
}  // namespace bitpool
