#include "bitpool/hash/feature_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "bitpool/base/error.h"
#include "bitpool/hash/feature_set_testing.h"
#include "bitpool/hash/testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

constexpr Index kFeatureDimension = 20;

HashModel Model(PoolingRecipe recipe, int bits = 24) {
  return {.method = "sah",
          .encoder = std::make_shared<LinearEncoder>(RandomMap(bits, kFeatureDimension, 1)),
          .decoder = RandomMap(kFeatureDimension, bits, 2),
          .pooling = recipe};
}

const LinearMap& FeatureEncoderOf(const HashModel& model) {
  return dynamic_cast<const LinearEncoder&>(*model.encoder).map();
}

// φ of eq:sol_pool, or of eq:gmp-solution without γ, in double precision.
VectorD ExactVector(const HashModel& model, MatrixF descriptors) {
  const PoolingRecipe& recipe = *model.pooling;
  MatrixD v = descriptors.cast<double>();
  if (recipe.normalise) v.colwise().normalize();
  MatrixD matrix = v * v.transpose();
  matrix.diagonal().array() += recipe.mu;
  VectorD rhs = v.rowwise().sum();
  if (recipe.gamma > 0) {
    const LinearMap& encoder = FeatureEncoderOf(model);
    const MatrixD w2 = model.decoder.weights.cast<double>();
    const MatrixD m = MatrixD::Identity(kFeatureDimension, kFeatureDimension) -
                      w2 * encoder.weights.cast<double>();
    matrix = recipe.gamma * matrix + m.transpose() * m;
    rhs = recipe.gamma * rhs +
          m.transpose() * (w2 * encoder.bias.cast<double>() + model.decoder.bias.cast<double>());
  }
  return matrix.ldlt().solve(rhs);
}

TEST(PoolingOf, FollowsTheRecipe) {
  const PoolingSystem gmp = PoolingOf(Model({.mu = 7, .gamma = 0}));
  EXPECT_EQ(gmp.coupling().rank(), 0);
  EXPECT_EQ(gmp.coupling().identity(), 0);
  EXPECT_EQ(gmp.dimension(), kFeatureDimension);
  EXPECT_EQ(gmp.options().mu, 7);
  const HashModel model = Model({.mu = 3, .gamma = 0.2}, 5);
  const PoolingSystem sah = PoolingOf(model);
  EXPECT_EQ(sah.options().mu, 3);
  EXPECT_EQ(sah.options().gamma, 0.2);
  const MatrixD m =
      MatrixD::Identity(kFeatureDimension, kFeatureDimension) -
      model.decoder.weights.cast<double>() * FeatureEncoderOf(model).weights.cast<double>();
  EXPECT_LT((sah.coupling().DenseMatrix() - m.transpose() * m).norm(), 1e-10);
}

TEST(PoolingOf, RefusesModelsThatDoNotPool) {
  HashModel model = Model({});
  model.method = "rba";
  model.pooling.reset();
  EXPECT_THAT(RefusalOf([&] { PoolingOf(model); }),
              ::testing::HasSubstr("a model of rba takes vectors"));
  EXPECT_THAT(RefusalOf([&] {
                EncodeImages(model, RectifiedImages(kFeatureDimension, 2, 1), RunContext());
              }),
              ::testing::HasSubstr("takes vectors"));
  EXPECT_THAT(RefusalOf([&] { PoolingOf(Model({.mu = 0})); }), ::testing::HasSubstr("mu"));
  EXPECT_THAT(RefusalOf([&] { PoolingOf(Model({.gamma = -1})); }), ::testing::HasSubstr("gamma"));
}

// An encoder that is not linear.
class FirstSign : public HashEncoder {
 public:
  Index dimension() const override { return kFeatureDimension; }
  int bits() const override { return 1; }
  std::string_view kind() const override { return "first sign"; }
  std::vector<NamedMatrix> Parameters() const override { return {}; }

 private:
  MatrixF ProjectColumns(const MatrixFRef& block) const override { return block.topRows(1); }
};

TEST(PoolingOf, AnyEncoderMayFollowMaxPoolingButOnlyALinearOneIsCoupled) {
  HashModel model = Model({.gamma = 1});
  model.encoder = std::make_shared<FirstSign>();
  EXPECT_THAT(RefusalOf([&] { PoolingOf(model); }), ::testing::HasSubstr("linear encoder"));
  model.pooling->gamma = 0;
  EXPECT_EQ(
      EncodeImages(model, RectifiedImages(kFeatureDimension, 3, 1), RunContext()).codes.size(), 3);
}

TEST(PoolImagesBy, KnowsEveryPoolingByItsName) {
  MemoryFeatureSet images(2);
  MatrixF descriptors(2, 2);
  descriptors << 1, 3, 0, 4;
  images.Add("image", descriptors);
  const auto pooled = [&](std::string_view name, double mu) -> VectorF {
    return PoolImagesBy(name, mu, false, images, RunContext()).vectors.col(0);
  };
  EXPECT_EQ(pooled("sum", 1), (VectorF(2) << 4, 4).finished());
  EXPECT_EQ(pooled("mean", 1), (VectorF(2) << 2, 2).finished());
  EXPECT_EQ(pooled("max", 1), (VectorF(2) << 3, 4).finished());
  // With almost no regularisation, φ has the same product with every descriptor (eq:gmp).
  const VectorF gmp = pooled("gmp", 1e-6);
  EXPECT_NEAR(gmp.dot(descriptors.col(0)), 1, 1e-3);
  EXPECT_NEAR(gmp.dot(descriptors.col(1)), 1, 1e-3);
  EXPECT_THAT(RefusalOf([&] { pooled("median", 1); }), ::testing::HasSubstr("median"));
}

TEST(EncodeImages, PoolsThenEncodes) {
  const MemoryFeatureSet images = RectifiedImages(kFeatureDimension, 150, 3);
  for (const double gamma : {0.0, 0.05, 2.0}) {
    for (const bool normalise : {false, true}) {
      const HashModel model = Model({.normalise = normalise, .mu = 5, .gamma = gamma});
      PoolingOptions direct = PoolingOf(model).options();
      direct.solver = PoolingSolver::kDirect;
      const PoolingSystem system(PoolingOf(model).coupling(), direct);
      const MemoryFeatureSet scaled = ScaledImages(images, 3);
      MatrixF vectors(kFeatureDimension, images.size());
      for (Index i = 0; i < images.size(); ++i) {
        MatrixF descriptors = DescriptorsOf(scaled, i);
        const VectorD exact = ExactVector(model, descriptors);
        if (normalise) descriptors.colwise().normalize();
        vectors.col(i) = system.Pool(descriptors);
        EXPECT_LT((vectors.col(i).cast<double>() - exact).norm(), 1e-4 * exact.norm());
      }
      const BinaryCodes expected = model.encoder->Encode(vectors);
      const EncodedImages encoded = EncodeImages(model, scaled, RunContext({.threads = 4}));
      EXPECT_THAT(encoded.failed, ::testing::IsEmpty());
      EXPECT_EQ(encoded.codes.bits(), 24);
      ASSERT_EQ(encoded.codes.size(), images.size());
      EXPECT_LE(HammingDistance(encoded.codes.rows(), expected.rows()), 150 * 24 / 1000)
          << "gamma " << gamma;
    }
  }
}

// The system with weights, by its definition.
TEST(EncodeImages, WeighsLocalFeaturesByTheAttention) {
  const MemoryFeatureSet images = RectifiedImages(kFeatureDimension, 12, 3);
  Random random(4);
  const VectorF attention = random.NormalMatrix(kFeatureDimension, 1);
  const HashModel model = Model({.mu = 5, .attention = attention});
  const EncodedImages encoded = EncodeImages(model, images, RunContext());
  for (Index i = 0; i < images.size(); ++i) {
    const MatrixD v = DescriptorsOf(images, i).colwise().normalized().cast<double>();
    VectorD weights = (v.transpose() * attention.cast<double>()).array().exp();
    weights /= weights.mean();
    MatrixD system = v * weights.asDiagonal() * v.transpose();
    system.diagonal().array() += 5;
    const VectorD exact = system.ldlt().solve(v * weights);
    const MatrixF expected = model.encoder->Project(exact.cast<float>());
    EXPECT_LT((encoded.projections.col(i) - expected.col(0)).norm(), 1e-3F * expected.norm());
  }
}

TEST(EncodeImages, FinishesTheOthersWhereSomeFail) {
  const MemoryFeatureSet good = RectifiedImages(kFeatureDimension, 60, 4);
  const FaultyFeatures images(good, {0, 33, 58}, {7, 34, 59});
  HashModel model = Model({.mu = 10, .gamma = 0.1}, 13);
  LinearMap map = FeatureEncoderOf(model);
  map.bias.setConstant(0.2F);  // the code of the vector of zeros has all bits set
  model.encoder = std::make_shared<LinearEncoder>(map);
  const BinaryCodes expected = EncodeImages(model, good, RunContext()).codes;
  for (const int threads : {1, 4}) {
    const EncodedImages encoded = EncodeImages(model, images, RunContext({.threads = threads}));
    std::vector<Index> failed;
    for (const FailedImage& image : encoded.failed) failed.push_back(image.image);
    ASSERT_THAT(failed, ::testing::ElementsAre(0, 7, 33, 34, 58, 59));
    EXPECT_THAT(encoded.failed[0].reason, ::testing::HasSubstr("row 19"));
    EXPECT_THAT(encoded.failed[1].reason, ::testing::HasSubstr("no descriptors"));
    ASSERT_EQ(encoded.codes.size(), 60);
    for (Index i = 0; i < 60; ++i) {
      EXPECT_EQ(encoded.codes.ToHex(i),
                std::ranges::count(failed, i) > 0 ? "0000" : expected.ToHex(i));
    }
    // The same for the vectors.
    const PooledImages pooled =
        PoolImages(PoolingOf(model), true, images, RunContext({.threads = threads}));
    EXPECT_EQ(pooled.failed.size(), 6U);
    for (const Index i : failed) EXPECT_EQ(pooled.vectors.col(i).norm(), 0);
    EXPECT_GT(pooled.vectors.col(1).norm(), 0);
  }
}

TEST(EncodeImages, SameBitsAtAnyNumberOfThreads) {
  const MemoryFeatureSet images = RectifiedImages(kFeatureDimension, 40, 5);
  const PoolingSystem system = PoolingOf(Model({.gamma = 0.1}));
  EXPECT_TRUE(SameBits(PoolImages(system, true, images, RunContext({.threads = 1})).vectors,
                       PoolImages(system, true, images, RunContext({.threads = 4})).vectors));
}

TEST(EncodeImages, RefusesAnotherDimension) {
  EXPECT_THAT(RefusalOf([] {
                EncodeImages(Model({}), RectifiedImages(kFeatureDimension + 2, 3, 1), RunContext());
              }),
              ::testing::HasSubstr("dimension 22; expected 20"));
}

// Reading one of its images fails.
class DamagedFeatures : public FaultyFeatures {
 public:
  explicit DamagedFeatures(const FeatureSet& good) : FaultyFeatures(good, {}, {}) {}
  void Read(Index image, MatrixF& descriptors) const override {
    if (image == 5) throw Error(ErrorCode::kCorrupt, "image 5 is damaged");
    FaultyFeatures::Read(image, descriptors);
  }
};

TEST(EncodeImages, DamageIsAnError) {
  const MemoryFeatureSet good = RectifiedImages(kFeatureDimension, 20, 6);
  try {
    EncodeImages(Model({}), DamagedFeatures(good), RunContext());
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    EXPECT_STREQ(error.what(), "image 5 is damaged");
  }
}

TEST(EncodeImages, OfNothingIsNothingAndStops) {
  const EncodedImages none =
      EncodeImages(Model({}), MemoryFeatureSet(kFeatureDimension), RunContext());
  EXPECT_EQ(none.codes.size(), 0);
  EXPECT_EQ(none.codes.bits(), 24);
  EXPECT_THAT(none.failed, ::testing::IsEmpty());
  try {
    EncodeImages(Model({}), RectifiedImages(kFeatureDimension, 100, 7),
                 StoppedContext("pooling", 10));
    ADD_FAILURE() << "was not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

}  // namespace
}  // namespace bitpool
