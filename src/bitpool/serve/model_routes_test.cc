#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/io/testing.h"
#include "bitpool/serve/service_testing.h"
#include "bitpool/training/model_file.h"

namespace bitpool {
namespace {

using nlohmann::json;

// Three bits of two numbers, worked by hand: x > 1, y < 0, and x + y > 0.
HashModel HandMadeModel() {
  LinearMap encoder{.weights = MatrixF(3, 2), .bias = VectorF(3)};
  encoder.weights << 1, 0, 0, -1, 1, 1;
  encoder.bias << -1, 0, 0;
  return {.method = "rba",
          .encoder = std::make_shared<LinearEncoder>(std::move(encoder)),
          .decoder = {.weights = MatrixF::Zero(2, 3), .bias = VectorF::Zero(2)}};
}

class ModelRoutesTest : public testing::ServiceTest {
 protected:
  void SetUp() override {
    SaveModel(Env::Posix(), file, {.model = HandMadeModel(), .training = json::object()},
              IfExists::kFail);
    service = std::make_unique<Service>(Env::Posix(), ServiceOptions());
    service->AddModel("three", file);
  }
  std::filesystem::path file = folder.base() / "three.bpm";
};

TEST_F(ModelRoutesTest, AreListed) {
  EXPECT_EQ(GetJson("/v1/models")["models"],
            json::parse(R"([{"name": "three", "method": "rba", "dimension": 2, "bits": 3}])"));
}

TEST_F(ModelRoutesTest, EncodeJson) {
  const json answer = Json(
      Post("/v1/models/three/encode?values=true", R"({"vectors": [[2, -1], [0.5, 3], [-1, -1]]})"));
  EXPECT_EQ(answer["bits"], 3);
  EXPECT_EQ(answer["codes"], json({"07", "04", "02"}));
  EXPECT_EQ(answer["values"], json::parse("[[1, 1, 1], [-0.5, -3, 3.5], [-2, 1, -2]]"));
  EXPECT_FALSE(
      Json(Post("/v1/models/three/encode", R"({"vectors": [[2, -1]]})")).contains("values"));
}

TEST_F(ModelRoutesTest, EncodeBytes) {
  const std::string vectors = testing::Pack(2.0F, -1.0F, 0.5F, 3.0F);
  EXPECT_EQ(testing::BodyOf(PostRaw("/v1/models/three/encode", vectors)),
            testing::Pack(uint8_t{7}, uint8_t{4}));
  EXPECT_EQ(testing::BodyOf(PostRaw("/v1/models/three/encode?values=true", vectors)),
            testing::Pack(1.0F, 1.0F, 1.0F, -0.5F, -3.0F, 3.5F));
  EXPECT_EQ(testing::BodyOf(PostRaw("/v1/models/three/encode", "")), "");
}

TEST_F(ModelRoutesTest, RefuseWhatIsNoVector) {
  const std::string target = "/v1/models/three/encode";
  for (const char* body :
       {R"({"vectors": [[1, 2, 3]]})", R"({"vectors": [["one", 2]]})", R"({"vectors": 7})", "{}"}) {
    ExpectProblem(Post(target, body), 400, "invalid_argument", "");
  }
  ExpectProblem(Post(target, R"({"vectors": [[1, 1e999]]})"), 400, "invalid_request", "the body");
  ExpectProblem(PostRaw(target, testing::Pack(1.0F)), 400, "invalid_argument", "the body");
  ExpectProblem(PostRaw(target, testing::Pack(1.0F, std::numeric_limits<float>::quiet_NaN())), 400,
                "invalid_argument", "");
  ExpectProblem(Post("/v1/models/four/encode", R"({"vectors": [[1, 2]]})"), 404, "not_found");
}

TEST_F(ModelRoutesTest, AModelOfLocalFeaturesIsRefused) {
  HashModel pooling = HandMadeModel();
  pooling.pooling = PoolingRecipe();
  const std::filesystem::path other = folder.base() / "pooling.bpm";
  SaveModel(Env::Posix(), other, {.model = std::move(pooling), .training = json::object()},
            IfExists::kFail);
  try {
    service->AddModel("pooling", other);
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("pooling.bpm: expected a model of vectors"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW(service->AddModel("three", file), Error);
}

}  // namespace
}  // namespace bitpool
