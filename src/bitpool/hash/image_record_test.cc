#include "bitpool/hash/image_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bitpool/base/error.h"
#include "bitpool/hash/feature_set_testing.h"
#include "bitpool/hash/testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

constexpr Index kDimension = 16;
constexpr Index kFew = 8;    // 128 numbers, less than the 136 of the triangle
constexpr Index kMany = 50;  // more

ImageRecord Stored(const ImageRecord& record, Index dimension = kDimension) {
  return ImageRecord::Unpack(record.Pack(), dimension);
}

ImageRecord StoredRecordOf(const MatrixF& descriptors) {
  return Stored(ImageRecord::Reduce(descriptors), descriptors.rows());
}

PoolingSystem GmpSystem(double mu, Index dimension = kDimension) {
  return {Coupling::None(dimension), {.mu = mu, .tolerance = 1e-6}};
}

PoolingSystem CoupledSystem(double mu) {
  return {
      Coupling::Autoencoder(RandomMap(6, kDimension, 1), RandomMap(kDimension, 6, 2)),
      {.mu = mu, .gamma = 0.3, .tolerance = 1e-6},
  };
}

// φ straight from eq:sol_pool with the descriptors as they are, in double precision.
VectorD ExactSolution(const PoolingSystem& system, const MatrixF& descriptors) {
  const MatrixD v = descriptors.cast<double>();
  const double gamma = system.options().gamma;
  MatrixD matrix = system.coupling().DenseMatrix() + gamma * v * v.transpose();
  matrix.diagonal().array() += gamma * system.options().mu;
  return matrix.ldlt().solve(gamma * v.rowwise().sum() +
                             system.coupling().RightHandSide().cast<double>());
}

double RelativeError(const VectorF& a, const VectorD& b) {
  return (a.cast<double>() - b).norm() / b.norm();
}

// ‖Vᵀφ − 1‖²
double NaiveInequality(const MatrixF& descriptors, const VectorF& vector) {
  return ((descriptors.cast<double>().transpose() * vector.cast<double>()).array() - 1)
      .matrix()
      .squaredNorm();
}

TEST(ImageRecord, KeepsWhateverIsFewerNumbers) {
  // 16 dimensions: 136 numbers of VVᵀ.
  EXPECT_FALSE(ImageRecord::Reduce(RectifiedFeatures(16, 1, 1)).has_gram());
  EXPECT_FALSE(ImageRecord::Reduce(RectifiedFeatures(16, 8, 1)).has_gram());
  EXPECT_TRUE(ImageRecord::Reduce(RectifiedFeatures(16, 9, 1)).has_gram());
  // 15 dimensions: 120 numbers, as many as those of 8 descriptors.
  EXPECT_FALSE(ImageRecord::Reduce(RectifiedFeatures(15, 8, 1)).has_gram());
  EXPECT_TRUE(ImageRecord::Reduce(RectifiedFeatures(15, 9, 1)).has_gram());
  EXPECT_EQ(ImageRecord::Reduce(RectifiedFeatures(16, 50, 1)).Pack().size(),
            ImageRecord::Reduce(RectifiedFeatures(16, 5000, 1)).Pack().size());
  EXPECT_LT(ImageRecord::Reduce(RectifiedFeatures(16, 3, 1)).Pack().size(),
            ImageRecord::Reduce(RectifiedFeatures(16, 8, 1)).Pack().size());
}

class ImageRecordTest : public ::testing::TestWithParam<Index> {
 protected:
  MatrixF descriptors_ = RectifiedFeatures(kDimension, GetParam(), 3);
};

TEST_P(ImageRecordTest, SolvesAsTheDescriptorsDo) {
  const ImageRecord record = ImageRecord::Reduce(descriptors_);
  for (const double mu : {1.0, 10.0, 100.0}) {
    for (const PoolingSystem& system : {GmpSystem(mu), CoupledSystem(mu)}) {
      PoolingOptions options = system.options();
      options.solver = PoolingSolver::kDirect;
      const PoolingSystem direct(system.coupling(), options);
      const VectorD exact = ExactSolution(system, descriptors_);
      EXPECT_LT(RelativeError(direct.Pool(descriptors_), exact), 1e-5);
      EXPECT_LT(RelativeError(system.Pool(descriptors_), exact), 1e-5);
      EXPECT_LT(RelativeError(record.Solve(system, {}), exact), 1e-5);
      EXPECT_LT(RelativeError(record.Solve(direct, {}), exact), 1e-5);
      // Halves: every number is right to 1 in 2048 at least.
      EXPECT_LT(RelativeError(Stored(record).Solve(system, {}), exact), 1e-3) << "mu " << mu;
      EXPECT_LT(RelativeError(Stored(record).Solve(direct, {}), exact), 1e-3) << "mu " << mu;
      // Where it starts makes no difference.
      const VectorF start = 2 * record.Solve(GmpSystem(3 * mu), {});
      EXPECT_LT(RelativeError(record.Solve(system, {.start = {start.data(), kDimension}}), exact),
                3e-5);
    }
  }
}

TEST_P(ImageRecordTest, InequalityIsThatOfTheDescriptors) {
  const ImageRecord record = ImageRecord::Reduce(descriptors_);
  Random random(4);
  for (const VectorF& vector :
       {VectorF(VectorF::Zero(kDimension)), VectorF(random.NormalMatrix(kDimension, 1)),
        GmpSystem(1).Pool(descriptors_), GmpSystem(100).Pool(descriptors_)}) {
    const double naive = NaiveInequality(descriptors_, vector);
    // What is left after a cancellation is as exact as what was cancelled.
    const auto size = static_cast<double>(descriptors_.cols()) + naive;
    EXPECT_NEAR(record.Inequality(vector), naive, 2e-6 * size);
    EXPECT_NEAR(Stored(record).Inequality(vector), naive, 1e-3 * size);
  }
}

TEST_P(ImageRecordTest, IsTheSameAfterBeingStoredTwice) {
  const ImageRecord record = ImageRecord::Reduce(descriptors_);
  const std::vector<std::byte> once = record.Pack();
  const ImageRecord unpacked = ImageRecord::Unpack(once, kDimension);
  EXPECT_EQ(unpacked.has_gram(), record.has_gram());
  EXPECT_EQ(unpacked.Pack(), once);
  EXPECT_EQ(once.size(), 16 + 4 * kDimension +
                             2 * (record.has_gram() ? kDimension * (kDimension + 1) / 2
                                                    : kDimension * descriptors_.cols()));
}

// Long descriptors whose VVᵀ has no full rank: only μ keeps the system definite, and halves would
// be wrong by more than that.
TEST(ImageRecord, OfDescriptorsOfAnyLengthIsExactInSinglePrecision) {
  constexpr Index kWide = 64;
  for (const Index count : {20, 40, 300}) {
    const MatrixF descriptors = 100 * RectifiedFeatures(kWide, count, 7);
    const ImageRecord record = ImageRecord::Reduce(descriptors, RecordPrecision::kSingle);
    const std::vector<std::byte> bytes = record.Pack();
    const ImageRecord unpacked = ImageRecord::Unpack(bytes, kWide);
    EXPECT_EQ(unpacked.Pack(), bytes);
    PoolingOptions options{.mu = 10};
    options.solver = PoolingSolver::kDirect;
    const PoolingSystem system(Coupling::None(kWide), options);
    EXPECT_LT(RelativeError(unpacked.Solve(system, {}), ExactSolution(system, descriptors)), 1e-2)
        << count << " descriptors";
  }
}

// Halves only reach from 6e-8 to 65504; the numbers of a record may lie outside.
TEST_P(ImageRecordTest, AnyScaleIsAsExact) {
  for (const float scale : {1e-8F, 1e-4F, 1e4F, 1e8F}) {
    const MatrixF scaled = scale * descriptors_;
    const double mu = 10.0 * scale * scale;
    const ImageRecord record = StoredRecordOf(scaled);
    const VectorD exact = ExactSolution(GmpSystem(mu), scaled);
    EXPECT_LT(RelativeError(record.Solve(GmpSystem(mu), {}), exact), 1e-3) << scale;
    EXPECT_NEAR(record.Inequality(exact.cast<float>()),
                NaiveInequality(scaled, exact.cast<float>()),
                1e-3 * static_cast<double>(GetParam()))
        << scale;
  }
}

TEST_P(ImageRecordTest, ZerosAreDescriptorsToo) {
  MatrixF descriptors = descriptors_;
  descriptors.col(0).setZero();
  descriptors.row(3).setZero();
  const VectorD exact = ExactSolution(CoupledSystem(10), descriptors);
  EXPECT_LT(RelativeError(StoredRecordOf(descriptors).Solve(CoupledSystem(10), {}), exact), 1e-3);
  const ImageRecord nothing = StoredRecordOf(MatrixF::Zero(kDimension, GetParam()));
  EXPECT_EQ(nothing.Solve(GmpSystem(10), {}), VectorF(VectorF::Zero(kDimension)));
  EXPECT_EQ(nothing.Inequality(VectorF::Ones(kDimension)), static_cast<double>(GetParam()));
  EXPECT_LT(RelativeError(nothing.Solve(CoupledSystem(10), {}),
                          ExactSolution(CoupledSystem(10), MatrixF::Zero(kDimension, 1))),
            1e-5);
}

TEST_P(ImageRecordTest, RefusesNumbersThatAreNotFinite) {
  MatrixF bad = descriptors_;
  bad(2, 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(RefusalOf([&] { ImageRecord::Reduce(bad); }), ::testing::HasSubstr("column 0"));
  bad(2, 0) = std::numeric_limits<float>::infinity();
  EXPECT_THAT(RefusalOf([&] { ImageRecord::Reduce(bad); }), ::testing::HasSubstr("column 0"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ImageRecordTest, ::testing::Values(1, kFew, kMany));

TEST(ImageRecord, OfOneDimension) {
  const MatrixF descriptors = MatrixF::Constant(1, 3, 2);
  const ImageRecord record = StoredRecordOf(descriptors);
  EXPECT_TRUE(record.has_gram());
  EXPECT_NEAR(record.Solve(GmpSystem(1, 1), {})[0], 6.0 / 13, 1e-3);
}

// A φ that has the same similarity to all descriptors, but for the rounding of halves.
TEST(ImageRecord, InequalityIsNeverNegative) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    MatrixF descriptors(kDimension, kMany);
    descriptors.colwise() = RectifiedFeatures(kDimension, 1, seed).col(0);
    const VectorF vector = descriptors.col(0);  // of length one
    const double inequality = StoredRecordOf(descriptors).Inequality(vector);
    EXPECT_GE(inequality, 0);
    EXPECT_NEAR(inequality, 0, 1e-3 * kMany);
  }
}

TEST(ImageRecord, RefusesWhatHasNoRecord) {
  EXPECT_THAT(RefusalOf([] { ImageRecord::Reduce(MatrixF(4, 0)); }),
              ::testing::HasSubstr("no descriptors"));
  // Numbers whose sum is finite and whose squares are not.
  EXPECT_THAT(RefusalOf([] { ImageRecord::Reduce(MatrixF::Constant(4, 20, 1e25F)); }),
              ::testing::HasSubstr("too large"));
}

// All records of a store, one after the other.
std::vector<VectorF> SolveAll(const RecordStore& records) {
  std::vector<VectorF> vectors;
  for (Index i = 0; i < records.size(); ++i) {
    vectors.push_back(records.Read(i).Solve(GmpSystem(10), {}));
  }
  return vectors;
}

TEST(ReduceImages, KeepsTheOrderAtAnyNumberOfThreads) {
  const MemoryFeatureSet images = RectifiedImages(kDimension, 150, 5);  // more than two waves
  for (const bool normalise : {false, true}) {
    std::vector<VectorF> expected;
    for (Index i = 0; i < images.size(); ++i) {
      MatrixF descriptors = DescriptorsOf(images, i);
      if (normalise) descriptors.colwise().normalize();
      expected.push_back(StoredRecordOf(descriptors).Solve(GmpSystem(10), {}));
    }
    std::vector<std::vector<VectorF>> found;
    for (const int threads : {1, 4}) {
      MemoryRecords records(kDimension);
      EXPECT_THAT(ReduceImages(images, normalise, records, RunContext({.threads = threads})),
                  ::testing::IsEmpty());
      ASSERT_EQ(records.size(), images.size());
      found.push_back(SolveAll(records));
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LT((found[0][i] - expected[i]).norm(), 1e-3 * expected[i].norm()) << i;
      EXPECT_TRUE(SameBits(found[0][i], found[1][i])) << i;
    }
  }
}

TEST(ReduceImages, NormalisesWhenAskedTo) {
  const MemoryFeatureSet images = ScaledImages(RectifiedImages(kDimension, 6, 6), 7);
  MemoryRecords plain(kDimension), unit(kDimension);
  ReduceImages(images, false, plain, RunContext());
  ReduceImages(images, true, unit, RunContext());
  for (Index i = 0; i < images.size(); ++i) {
    MatrixF descriptors = DescriptorsOf(images, i);
    const VectorF vector = VectorF::Constant(kDimension, 0.3F);
    EXPECT_NEAR(plain.Read(i).Inequality(vector) / NaiveInequality(descriptors, vector), 1, 2e-3);
    descriptors.colwise().normalize();
    EXPECT_NEAR(unit.Read(i).Inequality(vector) / NaiveInequality(descriptors, vector), 1, 2e-2);
  }
}

// Notes whether it was finished, and after how many records.
class CountingRecords : public MemoryRecords {
 public:
  using MemoryRecords::MemoryRecords;
  void Finish() override { finished_at = size(); }
  Index finished_at = -1;
};

TEST(ReduceImages, NamesTheImagesWithoutDescriptors) {
  const MemoryFeatureSet good = RectifiedImages(kDimension, 100, 7);
  const FaultyFeatures images(good, {}, {0, 41, 70, 99});
  CountingRecords records(kDimension);
  EXPECT_THAT(ReduceImages(images, true, records, RunContext({.threads = 4})),
              ::testing::ElementsAre("image 0", "image 41", "image 70", "image 99"));
  EXPECT_EQ(records.finished_at, 96);
  MemoryRecords all(kDimension);
  ReduceImages(good, true, all, RunContext());
  const std::vector<VectorF> some = SolveAll(records), every = SolveAll(all);
  EXPECT_TRUE(SameBits(some[0], every[1]));
  EXPECT_TRUE(SameBits(some[40], every[42]));
  EXPECT_TRUE(SameBits(some[95], every[98]));
}

TEST(ReduceImages, NamesTheImageThatIsBad) {
  const MemoryFeatureSet good = RectifiedImages(kDimension, 30, 8);
  const FaultyFeatures images(good, {12, 21}, {});
  for (const bool normalise : {false, true}) {
    for (const int threads : {1, 4}) {
      MemoryRecords records(kDimension);
      EXPECT_THAT(
          RefusalOf(
              [&] { ReduceImages(images, normalise, records, RunContext({.threads = threads})); }),
          ::testing::AllOf(::testing::StartsWith("image 12: "), ::testing::HasSubstr("row 15")));
    }
  }
}

TEST(ReduceImages, RefusesAStoreOfAnotherDimension) {
  MemoryRecords records(kDimension + 1);
  EXPECT_THAT(RefusalOf([&] {
                ReduceImages(RectifiedImages(kDimension, 2, 9), true, records, RunContext());
              }),
              ::testing::HasSubstr("dimension 16"));
}

TEST(ReduceImages, OfNothingIsNothingAndStops) {
  CountingRecords records(kDimension);
  EXPECT_THAT(ReduceImages(MemoryFeatureSet(kDimension), true, records, RunContext()),
              ::testing::IsEmpty());
  EXPECT_EQ(records.finished_at, 0);
  CountingRecords stopped(kDimension);
  try {
    ReduceImages(RectifiedImages(kDimension, 200, 9), true, stopped,
                 StoppedContext("reducing", 70));
    ADD_FAILURE() << "was not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
  EXPECT_EQ(stopped.finished_at, -1);
}

}  // namespace
}  // namespace bitpool
