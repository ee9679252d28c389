#include "bitpool/training/model_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/kernel_encoder.h"
#include "bitpool/hash/sash.h"
#include "bitpool/hash/testing.h"
#include "bitpool/hash/two_layer_encoder.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

std::string Content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Saved and opened again, a model gives the same codes and reconstructions.
void ExpectComesBackTheSame(const HashModel& model, const MatrixF& x) {
  const TempFolder folder;
  SaveModel(Env::Posix(), folder / "m.bpm", {.model = model, .training = {{"seed", 5}}},
            IfExists::kFail);
  const StoredModel back = OpenModel(Env::Posix(), folder / "m.bpm");
  EXPECT_EQ(back.model.method, model.method);
  EXPECT_EQ(back.training["seed"], 5);
  EXPECT_TRUE(SameBits(back.model.encoder->Project(x), model.encoder->Project(x))) << model.method;
  EXPECT_TRUE(SameBits(back.model.decoder.weights, model.decoder.weights));
  EXPECT_TRUE(SameBits(back.model.decoder.bias, model.decoder.bias));
}

HashModel ModelOfVectors(const std::string& method, int bits, const MatrixF& x,
                         const Labels* labels = nullptr) {
  const MatrixColumns source(x);
  return TrainOnVectors({.method = method, .bits = bits}, {.vectors = source, .labels = labels},
                        RunContext())
      .model;
}

TEST(ModelFile, EveryMethodComesBackTheSame) {
  const MatrixF x = ClusteredSamples(12, 600, 1);
  for (const std::string& method : MethodNames(LearnsFromVectorsAlone)) {
    ExpectComesBackTheSame(ModelOfVectors(method, 10, x), x);
  }
}

TEST(ModelFile, EveryMethodWithLabelsComesBackTheSame) {
  const MatrixF x = ClassVectors(12, 100, 4, 1);
  const Labels labels = SceneClasses(100, 4, 4);
  for (const Method& method : Methods()) {
    if (!method.needs_labels || method.learns_from != LearnsFrom::kVectors) continue;
    ExpectComesBackTheSame(ModelOfVectors(method.name, 10, x, &labels), x);
  }
}

TEST(ModelFile, SashComesBackTheSameWithItsPooling) {
  const TempFolder folder;
  const MemoryFeatureSet images = SmallScenes(60, 10, 6, 1);
  for (const int anchors : {0, 25}) {
    SashOptions options;
    options.joint.bits = 10;
    options.kernel.anchors = anchors;
    const HashModel model = TrainSash(options, images, SceneClasses(60, 6, 3), RunContext()).model;
    EXPECT_EQ(model.encoder->kind(), anchors == 0 ? "linear" : "mapped_kernel");
    ExpectComesBackTheSame(model, ClusteredSamples(10, 50, 1));
    SaveModel(Env::Posix(), folder / "m.bpm", {.model = model, .training = {}}, IfExists::kReplace);
    const HashModel back = OpenModel(Env::Posix(), folder / "m.bpm").model;
    const BinaryCodes codes = EncodeImages(model, images, RunContext()).codes;
    const BinaryCodes codes_back = EncodeImages(back, images, RunContext()).codes;
    EXPECT_TRUE(std::ranges::equal(codes.rows(), codes_back.rows()));
  }
}

TEST(ModelFile, AKernelComesBackTheSame) {
  const TempFolder folder;
  const MatrixF x = ClusteredSamples(12, 60, 1);
  Random random(2);
  const auto encoder = std::make_shared<KernelEncoder>(
      x.leftCols(20), 1.0 / 3,
      LinearMap{.weights = random.NormalMatrix(10, 20), .bias = random.NormalMatrix(10, 1)});
  HashModel model{.method = "sdh", .encoder = encoder, .decoder = {}};
  model.decoder = FitDecoder(*encoder, MatrixColumns(x), RunContext());
  SaveModel(Env::Posix(), folder / "m.bpm", {.model = model, .training = {}}, IfExists::kFail);
  const HashModel back = OpenModel(Env::Posix(), folder / "m.bpm").model;
  EXPECT_EQ(back.encoder->kind(), "kernel");
  EXPECT_EQ(back.dimension(), 12);
  EXPECT_TRUE(SameBits(back.encoder->Project(x), encoder->Project(x)));
}

TEST(ModelFile, TwoLayersComeBackTheSame) {
  const TempFolder folder;
  const MatrixF x = ClusteredSamples(12, 60, 1);
  Random random(2);
  HashModel model{
      .method = "itq",
      .encoder = std::make_shared<TwoLayerEncoder>(TwoLayerMap{
          .linear = {.weights = random.NormalMatrix(10, 12), .bias = random.NormalMatrix(10, 1)},
          .hidden = {.weights = random.NormalMatrix(7, 12), .bias = random.NormalMatrix(7, 1)},
          .output = random.NormalMatrix(10, 7)}),
      .decoder = {}};
  model.decoder = FitDecoder(*model.encoder, MatrixColumns(x), RunContext());
  ExpectComesBackTheSame(model, x);
}

TEST(ModelFile, LayersMustFit) {
  const TempFolder folder;
  const auto write = [&](uint64_t units, uint64_t biases) {
    ContainerWriter writer(Env::Posix(), folder / "m.bpm", "model", IfExists::kReplace);
    const std::vector<float> values(64, 1);
    const auto add = [&](const char* name, uint64_t columns, uint64_t rows) {
      writer.Add<float>(name, {columns, rows}, std::span(values).first(columns * rows));
    };
    add("encoder_weights", 3, 2);
    add("encoder_bias", 1, 2);
    add("hidden_weights", 3, 5);
    add("hidden_bias", 1, biases);
    add("output_weights", units, 2);
    add("decoder_weights", 2, 3);
    add("decoder_bias", 1, 3);
    writer.Commit({{"method", "itq"}, {"encoder", "two_layer"}});
  };
  const auto open = [&] { OpenModel(Env::Posix(), folder / "m.bpm"); };
  write(5, 5);
  EXPECT_NO_THROW(open());
  write(4, 5);
  ExpectError(ErrorCode::kCorrupt, {"encoder", "2 × 4 output weights"}, open);
  write(5, 4);
  ExpectError(ErrorCode::kCorrupt, {"hidden_bias", "expected 5"}, open);
}

TEST(ModelFile, KeepsTheAttentionOfThePooling) {
  const TempFolder folder;
  const MatrixF x = ClusteredSamples(3, 60, 1);
  HashModel model = ModelOfVectors("itq", 2, x);
  const VectorF attention = x.col(0);
  model.pooling = PoolingRecipe{.attention = attention};
  const auto save = [&] {
    SaveModel(Env::Posix(), folder / "m.bpm", {.model = model, .training = {}}, IfExists::kReplace);
  };
  save();
  const HashModel back = OpenModel(Env::Posix(), folder / "m.bpm").model;
  ASSERT_TRUE(back.pooling.has_value());
  EXPECT_TRUE(SameBits(back.pooling->attention, attention));
  model.pooling->attention = VectorF::Ones(2);
  save();
  ExpectError(ErrorCode::kCorrupt, {"pooling_attention", "expected 3 numbers, got 2"},
              [&] { OpenModel(Env::Posix(), folder / "m.bpm"); });
}

TEST(ModelFile, KeepsHowLocalFeaturesArePooled) {
  const TempFolder folder;
  const MatrixF x = ClusteredSamples(3, 60, 1);
  HashModel model = ModelOfVectors("itq", 2, x);
  model.pooling = PoolingRecipe{.normalise = false, .mu = 0.1, .gamma = 1.0 / 3};
  SaveModel(Env::Posix(), folder / "m.bpm", {.model = model, .training = {}}, IfExists::kFail);
  const HashModel back = OpenModel(Env::Posix(), folder / "m.bpm").model;
  ASSERT_TRUE(back.pooling.has_value());
  EXPECT_FALSE(back.pooling->normalise);
  EXPECT_EQ(back.pooling->mu, 0.1);
  EXPECT_EQ(back.pooling->gamma, 1.0 / 3);
  EXPECT_EQ(back.pooling->attention.size(), 0);
}

TEST(ModelFile, EveryDamageIsRejected) {
  const TempFolder folder;
  const MatrixF x = ClusteredSamples(2, 60, 1);
  const HashModel model = ModelOfVectors("lsh", 2, x);
  SaveModel(Env::Posix(), folder / "m.bpm", {.model = model, .training = {}}, IfExists::kFail);
  testing::ExpectEveryDamageIsRejected(
      Content(folder / "m.bpm"),
      [](const std::shared_ptr<const FileView>& view) { ParseModel(Container::Parse(view)); });
}

// Complete files with correct checksums that are still not models.
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

TEST(ModelFile, AKernelHasOneWidthAboveZero) {
  const TempFolder folder;
  const auto write = [&](uint64_t widths, float width) {
    ContainerWriter writer(Env::Posix(), folder / "m.bpm", "model", IfExists::kReplace);
    const std::vector<float> values(6, 1);
    const std::vector<float> all_widths(widths, width);
    writer.Add<float>("kernel_anchors", {2, 3}, std::span(values));
    writer.Add<float>("kernel_width", {1, widths}, std::span(all_widths));
    writer.Add<float>("kernel_map_weights", {2, 1}, std::span(values).first(2));
    writer.Add<float>("kernel_map_bias", {1, 1}, std::span(values).first(1));
    writer.Add<float>("decoder_weights", {1, 3}, std::span(values).first(3));
    writer.Add<float>("decoder_bias", {1, 3}, std::span(values).first(3));
    writer.Commit({{"method", "sdh"}, {"encoder", "kernel"}});
  };
  const auto open = [&] { OpenModel(Env::Posix(), folder / "m.bpm"); };
  write(1, 0.5F);
  EXPECT_NO_THROW(open());
  write(2, 0.5F);
  ExpectError(ErrorCode::kCorrupt, {"kernel_width", "1 × 1"}, open);
  write(1, 0);
  ExpectError(ErrorCode::kCorrupt, {"width of a kernel", "above 0"}, open);
}

}  // namespace
}  // namespace bitpool
