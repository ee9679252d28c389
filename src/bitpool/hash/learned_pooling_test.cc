#include "bitpool/hash/learned_pooling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "bitpool/hash/contrast_loss.h"
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
MemoryFeatureSet ClutteredImages(Index pictures, uint64_t seed, Index per_picture = kPerPicture) {
  Random random(seed);
  MemoryFeatureSet images(kPoolingDimension);
  for (Index picture = 0; picture < pictures; ++picture) {
    MatrixF content = random.NormalMatrix(kPoolingDimension, 6);
    content.row(0).setZero();
    for (Index view = 0; view < per_picture; ++view) {
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

// Σ ⟨g, W (φ − φ̄) / unit⟩ over images by its definition, densely and in double precision. Numbers
// are the attention and, at the end, log μ.
double SlowSumOfOutputs(const std::vector<MatrixD>& images, const VectorD& numbers,
                        const MatrixD& weights, double unit, const MatrixD& g) {
  const Index dimension = weights.cols();
  MatrixD vectors(dimension, static_cast<Index>(images.size()));
  for (Index i = 0; i < vectors.cols(); ++i) {
    const MatrixD& v = images[static_cast<size_t>(i)];
    VectorD w = (v.transpose() * numbers.head(dimension)).array().exp();
    w /= w.mean();
    MatrixD matrix = v * w.asDiagonal() * v.transpose();
    matrix.diagonal().array() += std::exp(numbers[dimension]);
    vectors.col(i) = matrix.ldlt().solve(v * w);
  }
  const MatrixD apart = vectors.colwise() - vectors.rowwise().mean();
  return (weights * apart / unit).cwiseProduct(g).sum();
}

// Its slopes, one for each number.
VectorD SlowSlopes(const std::vector<MatrixD>& images, VectorD numbers, const MatrixD& weights,
                   double unit, const MatrixD& g) {
  constexpr double kStep = 1e-5;
  VectorD slopes(numbers.size());
  for (Index i = 0; i < numbers.size(); ++i) {
    const double before = numbers[i];
    numbers[i] = before + kStep;
    const double above = SlowSumOfOutputs(images, numbers, weights, unit, g);
    numbers[i] = before - kStep;
    slopes[i] = (above - SlowSumOfOutputs(images, numbers, weights, unit, g)) / (2 * kStep);
    numbers[i] = before;
  }
  return slopes;
}

// The descriptors of some images, each of length one.
std::vector<MatrixD> UnitDescriptors(const FeatureSet& images, const std::vector<Index>& wanted) {
  std::vector<MatrixD> all;
  for (const Index image : wanted) {
    all.push_back(DescriptorsOf(images, image).cast<double>().colwise().normalized());
  }
  return all;
}

VectorD PoolingNumbers(const VectorF& attention, double mu) {
  VectorD numbers(attention.size() + 1);
  numbers << attention.cast<double>(), std::log(mu);
  return numbers;
}

// All gradients have a large part in common, which moves nothing, since it moves all outputs with
// their mean: without that mean, slopes would be several times as large.
TEST(GradientOfPooling, AgreesWithDifferences) {
  constexpr double kMu = 0.5;
  constexpr float kUnit = 0.75F;
  for (const uint64_t seed : {1, 2, 3}) {
    const MemoryFeatureSet images = ClutteredImages(5, seed);
    const std::vector<Index> some = {7, 0, 3, 12, 11, 4, 9};
    const auto count = static_cast<Index>(some.size());
    Random random(seed + 10);
    const VectorF attention = 0.5F * random.NormalMatrix(kPoolingDimension, 1);
    const MatrixF weights = random.NormalMatrix(5, kPoolingDimension);
    const MatrixF g = random.NormalMatrix(5, count).array() + 2.0F;
    const PoolingSystem system(Coupling::None(kPoolingDimension), {.mu = kMu, .tolerance = 1e-6},
                               attention);
    const std::vector<MatrixD> descriptors = UnitDescriptors(images, some);
    PooledBatch batch{.features = images,
                      .normalise = true,
                      .images = some,
                      .vectors = MatrixF(kPoolingDimension, count)};
    for (Index i = 0; i < count; ++i) {
      batch.vectors.col(i) = system.Pool(descriptors[static_cast<size_t>(i)].cast<float>());
    }
    const VectorD expected = SlowSlopes(descriptors, PoolingNumbers(attention, kMu),
                                        weights.cast<double>(), kUnit, g.cast<double>());
    const PoolingGradient gradient =
        GradientOfPooling(system, batch, weights, kUnit, g, RunContext({.threads = 2}));
    const double tolerance = 1e-3 * expected.norm();
    EXPECT_LT((gradient.attention - expected.head(kPoolingDimension)).norm(), tolerance) << seed;
    EXPECT_NEAR(gradient.log_mu, expected[kPoolingDimension], tolerance) << seed;
    EXPECT_GT(std::abs(expected[kPoolingDimension]), 50 * tolerance) << "its sign must count";
  }
}

// The first step of Adam moves every number by its learning rate, against the sign of its gradient.
// A batch of all pictures with two images each has the same loss in any order.
TEST(LearnPooling, AStepGoesDownTheGradientOfTheContrast) {
  constexpr Index kPictures = 30;
  const MemoryFeatureSet images = ClutteredImages(kPictures, 5, 2);
  const LinearMap start = StartFor(images, 8);
  LearnPoolingOptions options = PoolingOptions(1);
  options.tolerance = 1e-6;
  const LearnedPooling learned = LearnPooling(options, images, 2, start, RunContext());

  // The hash functions begin as the start, with every bit divided by its deviation.
  const MatrixD x = VectorsOf({.mu = options.mu}, images).cast<double>();
  MatrixD weights = start.weights.cast<double>();
  MatrixD h = (weights * x).colwise() + start.bias.cast<double>();
  const VectorD mean = h.rowwise().mean();
  const VectorD deviations = (h.colwise() - mean).rowwise().norm() / std::sqrt(2.0 * kPictures);
  h = deviations.cwiseInverse().asDiagonal() * h;
  weights = deviations.cwiseInverse().asDiagonal() * weights;
  const ContrastLoss loss = ComputeContrastLoss(h.cast<float>(), options.temperature,
                                                ContrastCodes::kSigns, RunContext());
  ASSERT_EQ(learned.losses.size(), 1U);
  EXPECT_NEAR(learned.losses[0], loss.loss, 1e-4);

  std::vector<Index> all;
  for (Index i = 0; i < images.size(); ++i) all.push_back(i);
  const VectorD slopes =
      SlowSlopes(UnitDescriptors(images, all), PoolingNumbers(VectorF::Zero(kPoolingDimension), 1),
                 weights, 1, loss.gradient.cast<double>());
  int clear = 0;
  for (Index i = 0; i < kPoolingDimension; ++i) {
    if (std::abs(slopes[i]) < 0.01 * slopes.cwiseAbs().maxCoeff()) continue;  // nearly rounding
    ++clear;
    EXPECT_NEAR(learned.recipe.attention[i], std::copysign(options.attention_rate, -slopes[i]),
                1e-3)
        << i;
  }
  EXPECT_GT(clear, kPoolingDimension / 2);
  EXPECT_NEAR(std::log(learned.recipe.mu),
              std::copysign(options.mu_rate, -slopes[kPoolingDimension]), 1e-4);
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
