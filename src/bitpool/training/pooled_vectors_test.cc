#include "bitpool/training/pooled_vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bitpool/hash/baselines/testing.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/sah.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/pool/coupling.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/testing.h"

namespace bitpool {
namespace {

TEST(PooledVectors, AreMadeOncePerMu) {
  const MemoryFeatureSet images = SmallScenes(20, 8, 4, 1);
  const CountingFeatureSet counted(images);
  PooledVectors pooled = PooledVectors::OfImages(counted, true);
  const MatrixF with_ten = pooled.With(10, RunContext());
  const MatrixF with_one = pooled.With(1, RunContext());
  EXPECT_TRUE(SameBits(pooled.With(10, RunContext()), with_ten));
  EXPECT_FALSE(SameBits(with_one, with_ten));
  for (Index image = 0; image < 20; ++image) EXPECT_EQ(counted.reads(image), 2);
  EXPECT_TRUE(SameBits(
      with_one, PoolImages({Coupling::None(8), {.mu = 1}}, true, images, RunContext()).vectors));
}

TEST(PooledVectors, NameAnImageThatCannotBePooled) {
  MemoryFeatureSet images = SmallScenes(3, 8, 3, 1);
  images.Add("blank", MatrixF(8, 0));
  PooledVectors pooled = PooledVectors::OfImages(images, true);
  EXPECT_THAT(RefusalOf([&] { pooled.With(10, RunContext()); }), ::testing::HasSubstr("blank: "));
}

TEST(PooledPictures, LearnedPoolingLooksAtTheWantedViewsAlone) {
  const MemoryFeatureSet images = SmallViews(40, 8, 4, 1);
  const CountingFeatureSet counted(images);
  MethodSettings settings{
      .method = "sav", .bits = 6, .options = {{"learn_pooling", 1}, {"views", 1}}};
  const PoolingRecipe learned = RecipeFor(settings, counted, RunContext());
  for (Index image = 0; image < images.size(); ++image) {
    if (image % 4 < 2) {
      EXPECT_GT(counted.reads(image), 1) << image;
    } else {
      EXPECT_EQ(counted.reads(image), 0) << image;
    }
  }
  settings.options["views"] = 0;
  const PoolingRecipe of_two =
      RecipeFor(settings, FeatureSubset::WithViews(images, 1), RunContext());
  EXPECT_TRUE(SameBits(learned.attention, of_two.attention));
  EXPECT_EQ(learned.mu, of_two.mu);
}

TEST(RecordTrainer, TrainsMethodsOfBothKindsAsTheyWouldBeByHand) {
  MemoryRecords records(8);
  ReduceImages(SmallScenes(60, 8, 6, 1), true, records, RunContext());
  const Labels labels = SceneClasses(60, 6, 3);
  RecordTrainer trainer(records, &labels);
  const MethodSettings itq{.method = "itq", .bits = 6, .options = {{"mu", 3}}};
  const MatrixF vectors = PoolRecords(records, {Coupling::None(8), {.mu = 3}}, RunContext());
  const MatrixColumns source(vectors);
  const HashModel found = trainer.Train(itq, RunContext());
  ExpectSameModel(found, TrainOnVectors(itq, {.vectors = source}, RunContext()).model);
  EXPECT_EQ(found.pooling->mu, 3);
  EXPECT_EQ(found.pooling->gamma, 0);
  const MethodSettings sdh{.method = "sdh", .bits = 6, .options = {{"mu", 3}}};
  ExpectSameModel(trainer.Train(sdh, RunContext()),
                  TrainOnVectors(sdh, {.vectors = source, .labels = &labels}, RunContext()).model);
  SahOptions options{.bits = 6, .iterations = 1};
  ExpectSameModel(
      trainer.Train({.method = "sah", .bits = 6, .options = {{"iterations", 1}}}, RunContext()),
      TrainSah(options, records, RunContext()).model);
  RecordTrainer without(records, nullptr);
  EXPECT_THAT(RefusalOf([&] { without.Train(sdh, RunContext()); }),
              ::testing::HasSubstr("learns from labels"));
}

}  // namespace
}  // namespace bitpool
