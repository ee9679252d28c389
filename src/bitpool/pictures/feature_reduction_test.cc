#include "bitpool/pictures/feature_reduction.h"

#include <atomic>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

MatrixF Features(size_t picture, Index count) {
  return Random(picture).NormalMatrix(8, count).array() + 0.5F;
}

TEST(LearnReduction, IsTheSameAtAnyNumberOfThreads) {
  const ReductionTraining training{.dimension = 3, .pictures = 6, .features = 60};
  std::atomic<int> described = 0;
  const auto describe = [&](size_t i) {
    ++described;
    return Features(i, 20);
  };
  const LocalPca one = LearnReduction(training, 40, describe, RunContext({.threads = 1}));
  EXPECT_EQ(described, 6);
  EXPECT_EQ(one.dimension(), 3);
  const LocalPca four = LearnReduction(training, 40, describe, RunContext({.threads = 4}));
  EXPECT_EQ(one.Parameters(), four.Parameters());
  const LocalPca other =
      LearnReduction(training, 40, describe, RunContext({.threads = 1, .seed = 9}));
  EXPECT_NE(one.Parameters(), other.Parameters());
}

// Given all features of all pictures, the reduction is simply that of their PCA.
TEST(LearnReduction, LearnsFromAllWhereThereAreFew) {
  MatrixF all(8, 40);
  all << Features(0, 20), Features(1, 20);
  const RunContext context({.threads = 1});
  const LocalPca learned = LearnReduction(
      {.dimension = 4}, 3, [](size_t i) { return i == 2 ? MatrixF(8, 0) : Features(i, 20); },
      context);
  const LocalPca expected = TrainLocalPca(all, 4, context);
  EXPECT_LT((learned.Apply(all) - expected.Apply(all)).cwiseAbs().maxCoeff(), 1e-4F);
}

TEST(LearnReduction, FewFeaturesGiveFewDimensionsAndNoneAreRefused) {
  const RunContext context({.threads = 1});
  const auto describe = [](size_t i) { return Features(i, 5); };
  EXPECT_EQ(LearnReduction({.dimension = 8}, 1, describe, context).dimension(), 2);
  testing::ExpectError(ErrorCode::kInvalidArgument, {"0 local features of 2 pictures"}, [&] {
    LearnReduction(
        {.dimension = 8}, 2, [](size_t) { return MatrixF(8, 0); }, context);
  });
  testing::ExpectError(ErrorCode::kInvalidArgument, {"dimension", "got 0"},
                       [&] { LearnReduction({.dimension = 0}, 2, describe, context); });
}

}  // namespace
}  // namespace bitpool
