#include "bitpool/hash/baselines/spherical_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitpool/hash/baselines/sphere_encoder.h"
#include "bitpool/hash/baselines/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

Trained<HashModel> TrainSph(const MatrixF& data, const SphericalHashOptions& options) {
  return TrainSphericalHash(options, MatrixColumns(data), RunContext());
}

const SphereEncoder& SpheresOf(const Trained<HashModel>& trained) {
  return dynamic_cast<const SphereEncoder&>(*trained.model.encoder);
}

// The spheres and the overlaps of their samples, by plain loops.
struct SlowSpheres {
  MatrixD centres;
  VectorD squared_radii;
  MatrixD overlaps;
  double mean_error = 0, deviation = 0;

  void Measure(const MatrixF& data) {
    const Index n = data.cols(), spheres = centres.cols();
    squared_radii.resize(spheres);
    MatrixD inside(n, spheres);
    for (Index j = 0; j < spheres; ++j) {
      std::vector<double> distances;
      for (Index i = 0; i < n; ++i) {
        distances.push_back((data.col(i).cast<double>() - centres.col(j)).squaredNorm());
      }
      std::vector<double> sorted = distances;
      std::sort(sorted.begin(), sorted.end());
      const auto half = static_cast<size_t>(n / 2);
      squared_radii[j] = (sorted[half - 1] + sorted[half]) / 2;
      for (Index i = 0; i < n; ++i) {
        inside(i, j) = distances[static_cast<size_t>(i)] <= squared_radii[j] ? 1 : 0;
      }
    }
    overlaps = inside.transpose() * inside;
    MeasureOverlaps(n);
  }

  void MeasureOverlaps(Index n) {
    std::vector<double> pairs;
    for (Index i = 0; i < overlaps.cols(); ++i) {
      for (Index j = i + 1; j < overlaps.cols(); ++j) pairs.push_back(overlaps(i, j));
    }
    const double quarter = static_cast<double>(n) / 4;
    double mean = 0;
    mean_error = deviation = 0;
    for (const double o : pairs) mean += o / static_cast<double>(pairs.size());
    for (const double o : pairs) {
      mean_error += std::abs(o - quarter) / static_cast<double>(pairs.size()) / quarter;
      deviation += (o - mean) * (o - mean) / static_cast<double>(pairs.size());
    }
    deviation = std::sqrt(deviation) / quarter;
  }

  void Move(Index n) {
    const double quarter = static_cast<double>(n) / 4;
    const MatrixD before = centres;
    for (Index i = 0; i < centres.cols(); ++i) {
      for (Index j = 0; j < centres.cols(); ++j) {
        const double force = 0.5 * (overlaps(i, j) - quarter) / quarter;
        centres.col(i) +=
            force * (before.col(i) - before.col(j)) / static_cast<double>(centres.cols());
      }
    }
  }
};

TEST(SphereEncoder, AgreesWithPlainLoops) {
  for (const float mean : {0.0F, 1e4F}) {
    Random random(1);
    MatrixF centres = random.NormalMatrix(9, 21);
    centres.array() += mean;
    VectorF radii(21);
    for (Index i = 0; i < 21; ++i) radii[i] = 9.0F + static_cast<float>(i);
    MatrixF data = 1.5F * random.NormalMatrix(9, 700);
    data.array() += mean;
    const SphereEncoder encoder(centres, radii);
    EXPECT_EQ(encoder.kind(), "spheres");
    EXPECT_EQ(encoder.dimension(), 9);
    EXPECT_EQ(encoder.bits(), 21);
    const MatrixF projected = encoder.Project(data);
    const BinaryCodes codes = encoder.Encode(data);
    for (Index i = 0; i < data.cols(); ++i) {
      for (int bit = 0; bit < 21; ++bit) {
        const double distance =
            (data.col(i).cast<double>() - centres.col(bit).cast<double>()).squaredNorm();
        const double h = static_cast<double>(radii[bit]) - distance;
        // Relative to 1e4 single precision knows the coordinates to 1e-3 only, but exactly so.
        EXPECT_NEAR(static_cast<double>(projected(bit, i)), h, mean > 0 ? 2e-2 : 1e-4);
        if (std::abs(h) > 2e-2) {
          EXPECT_EQ(BitOf(codes, i, bit), h > 0);
        }
      }
    }
  }
}

TEST(SphereEncoder, IsMadeFromItsParameters) {
  Random random(2);
  const MatrixF data = random.NormalMatrix(4, 20);
  const SphereEncoder encoder(random.NormalMatrix(4, 6), VectorF::Constant(6, 3));
  const std::vector<NamedMatrix> parameters = encoder.Parameters();
  ASSERT_EQ(parameters.size(), 2U);
  const SphereEncoder again(parameters[0].second, parameters[1].second);
  EXPECT_TRUE(SameBits(again.Project(data), encoder.Project(data)));
}

TEST(SphereEncoder, OnTheSphereIsInside) {
  MatrixF centres(1, 2);
  centres << -1, 1;
  const BinaryCodes codes =
      SphereEncoder(centres, VectorF::Constant(2, 4)).Encode(MatrixF::Constant(1, 1, 3));
  EXPECT_FALSE(BitOf(codes, 0, 0));
  EXPECT_TRUE(BitOf(codes, 0, 1));
}

TEST(SphereEncoder, Refuses) {
  const MatrixF centres = MatrixF::Ones(3, 2);
  EXPECT_THAT(RefusalOf([&] { SphereEncoder(centres, VectorF::Ones(3)); }),
              HasSubstr("3 × 2 centres and 3 radii"));
  EXPECT_THROW(SphereEncoder(MatrixF(0, 2), VectorF::Ones(2)), Error);
  EXPECT_THROW(SphereEncoder(MatrixF(3, 0), VectorF()), Error);
  EXPECT_THROW(SphereEncoder(centres, VectorF::Constant(2, -1)), Error);
  EXPECT_THROW(SphereEncoder(centres, VectorF::Constant(2, NAN)), Error);
  EXPECT_THROW(SphereEncoder(MatrixF::Constant(3, 2, INFINITY), VectorF::Ones(2)), Error);
}

TEST(SphericalHash, StartsWithMeansOfFiveSamples) {
  const MatrixF data = 5 * MatrixF::Identity(30, 30);
  const MatrixF centres = SpheresOf(TrainSph(data, {.bits = 12, .iterations = 0})).centres();
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 30; ++j) {
      EXPECT_LT(std::abs(centres(j, i) - std::round(centres(j, i))), 1e-5F);
    }
    EXPECT_EQ((centres.col(i).array() > 0.9F).count(), 5);
    EXPECT_NEAR(static_cast<double>(centres.col(i).sum()), 5, 1e-4);
  }
  EXPECT_NE(centres.col(0), centres.col(1));
}

TEST(SphericalHash, EveryMoveAgreesWithPlainLoops) {
  for (const float mean : {0.0F, 50.0F}) {
    const MatrixF data = MakeClusters(10, 301, 8, 3, mean);  // an odd number
    SlowSpheres slow;
    slow.centres = SpheresOf(TrainSph(data, {.bits = 9, .iterations = 0})).centres().cast<double>();
    slow.Measure(data);
    for (const int iterations : {1, 2, 6}) {
      const Trained<HashModel> trained =
          TrainSph(data, {.bits = 9, .iterations = iterations, .mean_tolerance = 0});
      SlowSpheres moved = slow;
      for (int i = 0; i < iterations; ++i) {
        moved.Move(data.cols());
        moved.Measure(data);
        EXPECT_NEAR(trained.summary.iterations[static_cast<size_t>(i)].objective, moved.mean_error,
                    1e-9);
      }
      EXPECT_EQ(trained.summary.iterations.size(), static_cast<size_t>(iterations));
      const SphereEncoder& spheres = SpheresOf(trained);
      EXPECT_LT((spheres.centres().cast<double>() - moved.centres).norm(),
                1e-4 * moved.centres.norm());
      EXPECT_LT((spheres.squared_radii().cast<double>() - moved.squared_radii).norm(),
                1e-3 * moved.squared_radii.norm());
    }
  }
}

TEST(SphericalHash, HalfInsideEachAndAQuarterInsideTwo) {
  const MatrixF data = MakeClusters(24, 2000, 30, 4, 5);
  const int bits = 16;
  const Trained<HashModel> trained = TrainSph(data, {.bits = bits, .iterations = 200});
  EXPECT_EQ(trained.model.method, "sph");
  EXPECT_TRUE(trained.summary.converged);
  EXPECT_LT(trained.summary.iterations.size(), 200U);
  const BinaryCodes codes = trained.model.encoder->Encode(data);
  SlowSpheres reached;
  reached.overlaps.setZero(bits, bits);
  for (Index sample = 0; sample < data.cols(); ++sample) {
    for (int i = 0; i < bits; ++i) {
      for (int j = 0; j < bits; ++j) {
        reached.overlaps(i, j) += BitOf(codes, sample, i) && BitOf(codes, sample, j) ? 1 : 0;
      }
    }
  }
  for (int i = 0; i < bits; ++i) EXPECT_EQ(reached.overlaps(i, i), 1000) << i;
  reached.MeasureOverlaps(data.cols());
  EXPECT_LE(reached.mean_error, 0.10);
  EXPECT_LE(reached.deviation, 0.15);
  EXPECT_NEAR(reached.mean_error, trained.summary.iterations.back().objective, 1e-9);
  EXPECT_GT(trained.summary.iterations.front().objective, reached.mean_error);
}

TEST(SphericalHash, SomeSamplesOnly) {
  const MatrixF data = MakeClusters(12, 3000, 9, 5);
  const Trained<HashModel> trained = TrainSph(data, {.bits = 8, .samples = 500});
  EXPECT_EQ(trained.summary.samples, 500);
  const BinaryCodes codes = trained.model.encoder->Encode(data);
  for (int bit = 0; bit < 8; ++bit) {
    Index inside = 0;
    for (Index i = 0; i < data.cols(); ++i) inside += BitOf(codes, i, bit) ? 1 : 0;
    EXPECT_NEAR(static_cast<double>(inside) / 3000, 0.5, 0.1);
  }
}

TEST(SphericalHash, SameAtAnyNumberOfThreads) {
  for (const Index samples : {0, 1500}) {
    ExpectSameAtAnyNumberOfThreads(MakeClusters(12, 5000, 9, 6), [&](const ColumnSource& source,
                                                                     const RunContext& context) {
      return TrainSphericalHash({.bits = 20, .iterations = 5, .samples = samples}, source, context);
    });
  }
}

TEST(SphericalHash, OneBitFewSamplesAndEqualSamples) {
  const MatrixF data = MakeClusters(4, 10, 3, 7);
  const Trained<HashModel> one = TrainSph(data, {.bits = 1});
  EXPECT_TRUE(one.summary.converged);
  EXPECT_EQ(one.model.bits(), 1);
  for (const Index count : {2, 3, 10}) {
    EXPECT_EQ(TrainSph(data.leftCols(count), {.bits = 32}).model.encoder->Encode(data).size(), 10);
  }
  MatrixF two_places(2, 40);
  for (Index i = 0; i < 40; ++i) two_places.col(i).setConstant(i % 4 == 0 ? 1.0F : -1.0F);
  EXPECT_EQ(TrainSph(two_places, {.bits = 6}).model.bits(), 6);
}

// No spheres hold half of them: the centres must not flee for ever.
TEST(SphericalHash, ThreePlacesKeepTheSpheresNear) {
  MatrixF three_places(2, 60);
  for (Index i = 0; i < 60; ++i) three_places.col(i) = Random(1 + i % 3).NormalMatrix(2, 1);
  const auto trained = TrainSph(three_places, {.bits = 8});
  const MatrixF projections = trained.model.encoder->Project(three_places);
  EXPECT_TRUE(projections.allFinite());
  EXPECT_LT(projections.cwiseAbs().maxCoeff(), 1e4F);
}

TEST(SphericalHash, Refuses) {
  EXPECT_THROW(SphericalHashOptions{.bits = 0}.Validate(), Error);
  EXPECT_THROW(SphericalHashOptions{.iterations = -1}.Validate(), Error);
  EXPECT_THROW(SphericalHashOptions{.mean_tolerance = -1}.Validate(), Error);
  EXPECT_THROW(SphericalHashOptions{.deviation_tolerance = NAN}.Validate(), Error);
  EXPECT_THAT(RefusalOf([] { SphericalHashOptions{.samples = 1}.Validate(); }),
              HasSubstr("samples: expected 0 (all) or at least 2, got 1"));
  ExpectRefusesBadData([](const ColumnSource& source, const RunContext& context) {
    return TrainSphericalHash({.bits = 16, .iterations = 3}, source, context);
  });
}

}  // namespace
}  // namespace bitpool
