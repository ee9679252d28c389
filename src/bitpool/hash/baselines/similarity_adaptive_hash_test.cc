#include "bitpool/hash/baselines/similarity_adaptive_hash.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/hash/baselines/head_testing.h"
#include "bitpool/hash/baselines/testing.h"

namespace bitpool {
namespace {

TEST(CodeLoss, ByHandAndByDifferences) {
  const MatrixF z = (MatrixF(1, 2) << 0, std::atanh(0.5F)).finished();
  const MatrixF b = (MatrixF(1, 2) << 1, -1).finished();
  const HeadLoss loss = ComputeCodeLoss(z, b);
  EXPECT_NEAR(loss.loss, (1 + 2.25) / 2, 1e-6);
  EXPECT_NEAR(loss.gradient(0, 0), -1, 1e-6);
  EXPECT_NEAR(loss.gradient(0, 1), 1.5 * 0.75, 1e-6);
  const MatrixF many = Random(1).NormalMatrix(5, 7);
  const MatrixF codes = Random(2).NormalMatrix(5, 7).cwiseSign();
  ExpectNear(
      ComputeCodeLoss(many, codes).gradient,
      DifferencesOf(many, [&](const MatrixF& at) { return ComputeCodeLoss(at, codes).loss; }),
      1e-3);
}

// Samples of a cluster get codes that are much nearer than those of others.
TEST(SimilarityAdaptiveHash, ClustersGetCodesOfTheirOwn) {
  const MatrixF x = MakeClusters(16, 600, 6, 1, 3);
  const auto trained = TrainSimilarityAdaptiveHash({.bits = 12}, MatrixColumns(x), RunContext());
  EXPECT_EQ(trained.model.method, "sadh");
  EXPECT_EQ(trained.model.encoder->kind(), "linear");
  EXPECT_EQ(trained.summary.iterations.size(), 3U);
  const BinaryCodes codes = EncodeAll(*trained.model.encoder, MatrixColumns(x), RunContext());
  double same = 0, other = 0, pairs_same = 0, pairs_other = 0;
  for (Index i = 0; i < 600; i += 3) {
    for (Index j = 0; j < i; ++j) {
      const int distance = HammingDistance(codes.code(i), codes.code(j));
      const bool alike = i % 6 == j % 6;
      (alike ? same : other) += distance;
      ++(alike ? pairs_same : pairs_other);
    }
  }
  EXPECT_LT(3 * same / pairs_same, other / pairs_other);
}

TEST(SimilarityAdaptiveHash, SameAtAnyNumberOfThreads) {
  ExpectSameAtAnyNumberOfThreads(
      MakeClusters(12, 3000, 5, 3), [](const ColumnSource& source, const RunContext& context) {
        return TrainSimilarityAdaptiveHash({.bits = 6, .rounds = 2, .epochs = 2}, source, context);
      });
}

TEST(SimilarityAdaptiveHash, RefusesBadDataAndOptions) {
  ExpectRefusesBadData([](const ColumnSource& source, const RunContext& context) {
    return TrainSimilarityAdaptiveHash({.bits = 4, .epochs = 1}, source, context);
  });
  using Options = SimilarityAdaptiveHashOptions;
  for (const Options& bad : {Options{.rounds = 0}, Options{.epochs = 0}, Options{.batch = 0},
                             Options{.learning_rate = 0}, Options{.graph = {.anchors = 1}}}) {
    EXPECT_THROW(bad.Validate(), Error);
  }
}

}  // namespace
}  // namespace bitpool
