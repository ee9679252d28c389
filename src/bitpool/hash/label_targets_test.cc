#include "bitpool/hash/label_targets.h"

#include <gtest/gtest.h>

#include "bitpool/base/run_context.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

TEST(LabelTargets, AColumnHasOnesAtItsClasses) {
  // Class 2 never occurs, sample 1 has no class.
  const Labels labels = Labels::Multi({{3}, {}, {1, 0}, {3, 1}, {0}});
  const LabelTargets targets(labels, 5);
  EXPECT_EQ(targets.dimension(), 4);
  EXPECT_EQ(targets.size(), 5);
  EXPECT_EQ(targets.occurring_classes(), 3);
  MatrixF expected(4, 5);
  expected << 0, 0, 1, 0, 1,  //
      0, 0, 1, 1, 0,          //
      0, 0, 0, 0, 0,          //
      1, 0, 0, 1, 0;
  MatrixF buffer;
  EXPECT_EQ(MatrixF(targets.Read(0, 5, buffer)), expected);
  // What one block left in the buffer does not show in the next.
  EXPECT_EQ(MatrixF(targets.Read(1, 3, buffer)), expected.middleCols(1, 3));
  EXPECT_EQ(targets.Read(5, 0, buffer).cols(), 0);
}

TEST(LabelTargets, AreTargetsOfARegression) {
  std::vector<int32_t> classes(3000);
  for (size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<int32_t>(i * i % 1000);
  const Labels labels = Labels::Single(classes);
  const LabelTargets targets(labels, 3000);
  const MatrixF x = Random(1).NormalMatrix(3, 3000);
  const CrossMoments moments = ComputeCrossMoments(MatrixColumns(x), targets, RunContext());
  MatrixD sums = MatrixD::Zero(targets.dimension(), 3);
  VectorD sizes = VectorD::Zero(targets.dimension());
  for (Index i = 0; i < 3000; ++i) {
    sums.row(classes[static_cast<size_t>(i)]) += x.col(i).cast<double>().transpose();
    sizes[classes[static_cast<size_t>(i)]] += 1;
  }
  const MatrixD expected = sums - sizes * x.cast<double>().rowwise().mean().transpose();
  EXPECT_LT((moments.cross().scatter() - expected).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT((moments.cross().target_mean() - sizes / 3000).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(LabelTargets, AsManyLabelsAsSamples) {
  const Labels labels = Labels::Single({0, 1, 2});
  const std::string refusal = RefusalOf([&] { LabelTargets(labels, 4); });
  EXPECT_NE(refusal.find("labels of 3 samples for 4 training samples"), std::string::npos)
      << refusal;
}

TEST(LabelTargets, AtLeastTwoClasses) {
  for (const Labels& labels :
       {Labels::Single({5, 5, 5}), Labels::Multi({{}, {}, {}}), Labels::Multi({{7}, {}, {7}})}) {
    const std::string refusal = RefusalOf([&] { LabelTargets(labels, 3); });
    EXPECT_NE(refusal.find("expected at least two classes"), std::string::npos) << refusal;
  }
  const Labels two_of_one_sample = Labels::Multi({{0, 4}, {}, {}});
  EXPECT_EQ(LabelTargets(two_of_one_sample, 3).occurring_classes(), 2);
}

}  // namespace
}  // namespace bitpool
