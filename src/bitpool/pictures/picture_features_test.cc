#include "bitpool/pictures/picture_features.h"

#include <gtest/gtest.h>

#include "bitpool/base/random.h"
#include "bitpool/io/testing.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

TEST(EmbeddedFeatures, AreThoseOfTheSetEmbedded) {
  MemoryFeatureSet raw(6, 2);  // a picture and its view
  raw.Add("a.jpg", Random(1).NormalMatrix(6, 5));
  raw.Add("a.jpg#1", Random(2).NormalMatrix(6, 0));
  const MatrixF sample = Random(3).NormalMatrix(6, 200);
  const std::optional<TriangulationEmbedding> embedding =
      TrainTriangulation({.anchors = 3}, MatrixColumns(sample), RunContext({.threads = 1})).model;
  const EmbeddedFeatures embedded(raw, embedding);
  EXPECT_EQ(embedded.size(), 2);
  EXPECT_EQ(embedded.dimension(), 12);
  EXPECT_EQ(embedded.images_per_picture(), 2);
  EXPECT_EQ(embedded.name(1), "a.jpg#1");
  EXPECT_EQ(embedded.descriptor_count(0), 5);
  MatrixF descriptors;
  embedded.Read(0, descriptors);
  EXPECT_EQ(descriptors, embedding->Apply(Random(1).NormalMatrix(6, 5)));
  embedded.Read(1, descriptors);
  EXPECT_EQ(descriptors.cols(), 0);
}

TEST(EmbeddedFeatures, WithoutAnEmbeddingAreTheSetItself) {
  MemoryFeatureSet raw(6);
  raw.Add("a.jpg", Random(1).NormalMatrix(6, 5));
  const std::optional<TriangulationEmbedding> none;
  const EmbeddedFeatures same(raw, none);
  EXPECT_EQ(same.dimension(), 6);
  MatrixF descriptors;
  same.Read(0, descriptors);
  EXPECT_EQ(descriptors, Random(1).NormalMatrix(6, 5));
}

TEST(FeaturesIfAny, OfWhatCannotBeDescribedThereAreNone) {
  const testing::TempFolder folder;
  Env& env = Env::Posix();
  const PictureDescriber describer({.kind = "dense"}, {}, std::nullopt);
  testing::WriteBytes(folder / "text.jpg", testing::ToBytes("no picture"));
  for (const char* name : {"text.jpg", "none.jpg"}) {
    const MatrixF none = FeaturesIfAny(env, describer, folder / name);
    EXPECT_EQ(none.rows(), describer.dimension()) << name;
    EXPECT_EQ(none.cols(), 0) << name;
  }
  const std::vector<std::byte> picture = testing::SpottedJpeg(1);
  testing::WriteBytes(folder / "fine.jpg", picture);
  const MatrixF features = FeaturesIfAny(env, describer, folder / "fine.jpg");
  EXPECT_GT(features.cols(), 0);
  EXPECT_EQ(features, describer.Describe(describer.Decode(picture)));
}

}  // namespace
}  // namespace bitpool
