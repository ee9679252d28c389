#include "bitpool/experiments/vector_sets.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "bitpool/io/sample_formats.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

// RootSIFT of descriptors that are `value`, then a running number, which makes each of them
// different, then zeros.
MemoryFeatureSet SomeRootSift(Index images, Index each, float value) {
  MemoryFeatureSet set(128);
  for (Index image = 0; image < images; ++image) {
    MatrixF descriptors = MatrixF::Zero(128, each);
    for (Index i = 0; i < each; ++i) {
      descriptors(0, i) = value;
      descriptors(1, i) = static_cast<float>(image * each + i + 1);
      const float sum = descriptors.col(i).sum();
      descriptors.col(i) = (descriptors.col(i) / sum).cwiseSqrt();
    }
    set.Add(std::to_string(image), descriptors);
  }
  return set;
}

// The number that a descriptor of SomeRootSift was made of.
int NumberOf(const VectorF& sift, float value) {
  return static_cast<int>(std::lround(sift(1) / sift(0) * value));
}

TEST(SiftSet, GivesBackSiftAndKeepsTrainingAndDatabaseApart) {
  const MemoryFeatureSet pictures = SomeRootSift(10, 12, 50), asking = SomeRootSift(3, 7, 5);
  const VectorSet set = SiftSetOf(pictures, asking, {.training = 20, .database = 80, .queries = 9},
                                  RunContext({.threads = 1}));
  ASSERT_EQ(set.train.cols(), 20);
  ASSERT_EQ(set.database.cols(), 80);
  ASSERT_EQ(set.test.cols(), 9);
  std::set<int> numbers;
  for (const MatrixF* part : {&set.train, &set.database}) {
    for (Index i = 0; i < part->cols(); ++i) {
      EXPECT_NEAR(part->col(i).norm(), 512, 0.01);
      EXPECT_EQ(part->col(i).tail(126).norm(), 0);
      EXPECT_TRUE(numbers.insert(NumberOf(part->col(i), 50)).second) << "in both, or twice";
    }
  }
  EXPECT_GE(*numbers.begin(), 1);
  EXPECT_LE(*numbers.rbegin(), 120);
  std::set<int> queries;
  for (Index i = 0; i < 9; ++i) queries.insert(NumberOf(set.test.col(i), 5));
  EXPECT_EQ(queries.size(), 9U);
  EXPECT_LE(*queries.rbegin(), 21);
}

TEST(SiftSet, IsSmallerWhereThereAreFewer) {
  const MemoryFeatureSet pictures = SomeRootSift(10, 10, 50), asking = SomeRootSift(1, 3, 5);
  const VectorSet set = SiftSetOf(
      pictures, asking, {.training = 1000, .database = 3000, .queries = 50}, RunContext());
  EXPECT_EQ(set.train.cols(), 25);
  EXPECT_EQ(set.database.cols(), 75);
  EXPECT_EQ(set.test.cols(), 3);
}

TEST(SiftSet, RefusesOtherFeatures) {
  MemoryFeatureSet other(64);
  other.Add("a", MatrixF::Ones(64, 20));
  const MemoryFeatureSet few = SomeRootSift(1, 5, 1), good = SomeRootSift(2, 8, 1);
  ExpectError(ErrorCode::kInvalidArgument, {"128", "64"},
              [&] { SiftSetOf(other, good, {}, RunContext()); });
  ExpectError(ErrorCode::kInvalidArgument, {"10 or more"},
              [&] { SiftSetOf(few, good, {}, RunContext()); });
}

TEST(Sift1M, IsReadFromItsFiles) {
  const TempFolder folder;
  float value = 0;
  for (const char* name : {"sift_learn.fvecs", "sift_base.fvecs", "sift_query.fvecs"}) {
    const auto writer =
        CreateSamples(Env::Posix(), folder / name, DType::kF4, {2}, IfExists::kFail);
    const std::vector<float> numbers = {value, value + 1, value + 2, value + 3};
    writer->Append<float>(numbers);
    writer->Commit();
    value += 10;
  }
  const VectorSet set = LoadSift1M(Env::Posix(), folder.path());
  EXPECT_EQ(set.train(1, 1), 3);
  EXPECT_EQ(set.database(0, 0), 10);
  EXPECT_EQ(set.test(0, 1), 22);
  ExpectError(ErrorCode::kNotFound, {"sift_learn.fvecs", "corpus-texmex"},
              [&] { LoadSift1M(Env::Posix(), folder / "nowhere"); });
}

}  // namespace
}  // namespace bitpool
