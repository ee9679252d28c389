#include "bitpool/pipeline/model_file.h"

#include <fstream>
#include <sstream>

#include "bitpool/hash/testing.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/pipeline/hash_methods.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

std::string Content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(ModelFile, EveryMethodComesBackTheSame) {
  const MatrixF x = ClusteredSamples(12, 600, 1);
  for (const HashMethod& method : VectorMethods()) {
    const TempFolder folder;
    const HashModel model =
        TrainHash({.method = std::string(method.name), .bits = 10}, MatrixColumns(x), RunContext())
            .model;
    SaveModel(Env::Posix(), folder / "m.bpm", {.model = model, .training = {{"seed", 5}}},
              IfExists::kFail);
    const StoredModel back = OpenModel(Env::Posix(), folder / "m.bpm");
    EXPECT_EQ(back.model.method, method.name);
    EXPECT_EQ(back.training["seed"], 5);
    EXPECT_TRUE(SameBits(back.model.encoder->Project(x), model.encoder->Project(x))) << method.name;
    EXPECT_TRUE(SameBits(back.model.decoder.weights, model.decoder.weights));
    EXPECT_TRUE(SameBits(back.model.decoder.bias, model.decoder.bias));
  }
}

TEST(ModelFile, KeepsHowLocalFeaturesArePooled) {
  const TempFolder folder;
  const MatrixF x = ClusteredSamples(3, 60, 1);
  HashModel model = TrainHash({.method = "itq", .bits = 2}, MatrixColumns(x), RunContext()).model;
  model.pooling = PoolingRecipe{.normalise = false, .mu = 0.1, .gamma = 1.0 / 3};
  SaveModel(Env::Posix(), folder / "m.bpm", {.model = model, .training = {}}, IfExists::kFail);
  const HashModel back = OpenModel(Env::Posix(), folder / "m.bpm").model;
  ASSERT_TRUE(back.pooling.has_value());
  EXPECT_FALSE(back.pooling->normalise);
  EXPECT_EQ(back.pooling->mu, 0.1);
  EXPECT_EQ(back.pooling->gamma, 1.0 / 3);
}

TEST(ModelFile, EveryDamageIsRejected) {
  const TempFolder folder;
  const MatrixF x = ClusteredSamples(2, 60, 1);
  const HashModel model =
      TrainHash({.method = "lsh", .bits = 2}, MatrixColumns(x), RunContext()).model;
  SaveModel(Env::Posix(), folder / "m.bpm", {.model = model, .training = {}}, IfExists::kFail);
  testing::ExpectEveryDamageIsRejected(
      Content(folder / "m.bpm"),
      [](const std::shared_ptr<const FileView>& view) { ParseModel(Container::Parse(view)); });
}

// Whole files, well summed, that are still no models.
TEST(ModelFile, SizesMustAgree) {
  const TempFolder folder;
  const auto write = [&](const char* encoder, Index decoder_rows, float first) {
    ContainerWriter writer(Env::Posix(), folder / "m.bpm", "model", IfExists::kReplace);
    const std::vector<float> values(64, first);
    writer.Add<float>("encoder_weights", {3, 2}, std::span(values).first(6));
    writer.Add<float>("encoder_bias", {1, 2}, std::span(values).first(2));
    writer.Add<float>("decoder_weights", {2, static_cast<uint64_t>(decoder_rows)},
                      std::span(values).first(2 * static_cast<size_t>(decoder_rows)));
    writer.Add<float>("decoder_bias", {1, static_cast<uint64_t>(decoder_rows)},
                      std::span(values).first(static_cast<size_t>(decoder_rows)));
    writer.Commit({{"method", "lsh"}, {"encoder", encoder}});
  };
  const auto open = [&] { OpenModel(Env::Posix(), folder / "m.bpm"); };
  write("linear", 3, 1);
  EXPECT_NO_THROW(open());
  write("linear", 4, 1);
  ExpectError(ErrorCode::kCorrupt, {"decoder_weights", "3 × 2"}, open);
  write("linear", 3, std::numeric_limits<float>::infinity());
  ExpectError(ErrorCode::kCorrupt, {"encoder_weights", "not finite"}, open);
  write("quantum", 3, 1);
  ExpectError(ErrorCode::kUnsupported, {"quantum", "newer"}, open);
  write("spheres", 3, 1);
  ExpectError(ErrorCode::kCorrupt, {"m.bpm"}, open);
}

}  // namespace
}  // namespace bitpool
