#include "bitpool/hash/learned_pooling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/feature_set_testing.h"
#include "bitpool/hash/itq.h"
#include "bitpool/hash/testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

constexpr Index kPerPicture = 3;
constexpr Index kPoolingDimension = 16;

// Every image has descriptors that are the same for all images of its picture but for noise, and
// clutter of its own, which is told by its first dimension.
MemoryFeatureSet ClutteredImages(Index pictures, uint64_t seed) {
  Random random(seed);
  MemoryFeatureSet images(kPoolingDimension);
  for (Index picture = 0; picture < pictures; ++picture) {
    MatrixF content = random.NormalMatrix(kPoolingDimension, 6);
    content.row(0).setZero();
    for (Index view = 0; view < kPerPicture; ++view) {
      MatrixF v(kPoolingDimension, 18);
      v.leftCols(6) = content + 0.3F * random.NormalMatrix(kPoolingDimension, 6);
      v.rightCols(12) = random.NormalMatrix(kPoolingDimension, 12);
      v.row(0).setZero();
      v.block(0, 6, 1, 12).setConstant(1.5F);
      images.Add("image", v);
    }
  }
  return images;
}

MatrixF VectorsOf(const PoolingRecipe& recipe, const FeatureSet& images) {
  return PoolImages(
             PoolingSystem(Coupling::None(images.dimension()), {.mu = recipe.mu}, recipe.attention),
             recipe.normalise, images, RunContext())
      .vectors;
}

LinearMap StartFor(const FeatureSet& images, int bits) {
  const MatrixF x = VectorsOf({.mu = 1}, images);
  const MatrixColumns source(x);
  TrainingSummary unused;
  return FindItqEncoder({.bits = bits}, source, ComputeMoments(source, RunContext()), RunContext(),
                        unused);
}

LearnPoolingOptions PoolingOptions(int steps = 40) {
  LearnPoolingOptions options;
  options.mu = 1;
  options.steps = steps;
  options.batch = 40;
  options.attention_rate = 0.2;
  options.temperature = 0.2;
  return options;
}

// The share of the variance of the vectors that is between pictures.
double BetweenPictures(const MatrixF& vectors) {
  const VectorF mean = vectors.rowwise().mean();
  double between = 0;
  for (Index i = 0; i < vectors.cols(); i += kPerPicture) {
    between +=
        kPerPicture * (vectors.middleCols(i, kPerPicture).rowwise().mean() - mean).squaredNorm();
  }
  return between / (vectors.colwise() - mean).squaredNorm();
}

TEST(LearnPooling, LearnsToIgnoreClutter) {
  const MemoryFeatureSet images = ClutteredImages(120, 1);
  const LearnedPooling learned =
      LearnPooling(PoolingOptions(), images, kPerPicture, StartFor(images, 16), RunContext());
  ASSERT_EQ(learned.losses.size(), 40U);
  EXPECT_FALSE(learned.interrupted);
  EXPECT_LT(learned.losses.back(), 0.8 * learned.losses.front());
  EXPECT_LT(learned.recipe.attention[0], -0.3F);  // what tells clutter
  EXPECT_GT(learned.recipe.mu, 0);
  const MemoryFeatureSet unseen = ClutteredImages(60, 2);
  EXPECT_GT(BetweenPictures(VectorsOf(learned.recipe, unseen)),
            1.1 * BetweenPictures(VectorsOf({.mu = 1}, unseen)));
}

TEST(LearnPooling, IsTheSameAtAnyNumberOfThreads) {
  const MemoryFeatureSet images = ClutteredImages(50, 3);
  const LinearMap start = StartFor(images, 8);
  const LearnedPooling one =
      LearnPooling(PoolingOptions(5), images, kPerPicture, start, RunContext({.threads = 1}));
  const LearnedPooling three =
      LearnPooling(PoolingOptions(5), images, kPerPicture, start, RunContext({.threads = 3}));
  EXPECT_TRUE(SameBits(one.recipe.attention, three.recipe.attention));
  EXPECT_EQ(one.recipe.mu, three.recipe.mu);
  EXPECT_EQ(one.losses, three.losses);
}

TEST(LearnPooling, LeavesOutPicturesThatCannotBePooled) {
  const MemoryFeatureSet good = ClutteredImages(30, 3);
  const FaultyFeatures faulty(good, {4}, {17, 30});
  const LearnedPooling learned =
      LearnPooling(PoolingOptions(3), faulty, kPerPicture, StartFor(good, 8), RunContext());
  EXPECT_TRUE(learned.recipe.attention.allFinite());
  std::set<Index> all;
  for (Index i = 0; i < good.size(); ++i) all.insert(i);
  const FaultyFeatures none(good, {}, all);
  EXPECT_THAT(RefusalOf([&] {
                LearnPooling(PoolingOptions(3), none, kPerPicture, StartFor(good, 8), RunContext());
              }),
              HasSubstr("of which 0 can be pooled"));
}

TEST(LearnPooling, AnInterruptionLeavesWhatWasFound) {
  const MemoryFeatureSet images = ClutteredImages(30, 3);
  const LinearMap start = StartFor(images, 8);
  const LearnedPooling stopped = LearnPooling(PoolingOptions(), images, kPerPicture, start,
                                              StoppedContext("learning to pool", 2));
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_EQ(stopped.losses.size(), 2U);
  EXPECT_THROW(LearnPooling(PoolingOptions(), images, kPerPicture, start,
                            StoppedContext("learning to pool", 0)),
               Error);
}

TEST(LearnPooling, RefusesWhatHasNoMeaning) {
  const MemoryFeatureSet images = ClutteredImages(4, 3);
  const LinearMap start = StartFor(images, 8);
  const auto refusal = [&](Index per_picture, const LinearMap& map, const auto& change) {
    LearnPoolingOptions options = PoolingOptions();
    change(options);
    return RefusalOf([&] { LearnPooling(options, images, per_picture, map, RunContext()); });
  };
  const auto same = [](LearnPoolingOptions&) {};
  EXPECT_THAT(refusal(1, start, same), HasSubstr("at least 2"));
  EXPECT_THAT(refusal(12, start, same), HasSubstr("got 1 with 12"));
  EXPECT_THAT(refusal(5, start, same), HasSubstr("12 images"));
  const LinearMap other{.weights = MatrixF::Ones(8, 3), .bias = VectorF::Ones(8)};
  EXPECT_THAT(refusal(3, other, same), HasSubstr("dimension 16, got 3"));
  using PoolingOptions = LearnPoolingOptions;
  EXPECT_THAT(refusal(3, start, [](PoolingOptions& o) { o.temperature = 0; }),
              HasSubstr("temperature"));
  EXPECT_THAT(refusal(3, start, [](PoolingOptions& o) { o.mu = 0; }), HasSubstr("mu"));
  EXPECT_THAT(refusal(3, start, [](PoolingOptions& o) { o.steps = 0; }), HasSubstr("1 step"));
  EXPECT_THAT(refusal(3, start, [](PoolingOptions& o) { o.batch = 1; }), HasSubstr("2 pictures"));
  EXPECT_THAT(refusal(3, start, [](PoolingOptions& o) { o.attention_rate = NAN; }),
              HasSubstr("attention"));
}

}  // namespace
}  // namespace bitpool
