#include "bitpool/hash/baselines/binary_reconstructive_embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/hash/baselines/pairwise_testing.h"
#include "bitpool/hash/baselines/supervised_testing.h"
#include "bitpool/hash/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

Trained<HashModel> TrainBre(const MatrixF& data, const Labels& labels,
                            const BinaryReconstructiveEmbeddingOptions& options) {
  return TrainBinaryReconstructiveEmbedding(options, MatrixColumns(data), labels, RunContext());
}

const MatrixF& WeightsOf(const Trained<HashModel>& trained) {
  return dynamic_cast<const KernelEncoder&>(*trained.model.encoder).map().weights;
}

TEST(BinaryReconstructiveEmbedding, EveryBitHasItsOwnLandmarks) {
  const MatrixF data = MakeClusters(8, 400, 5, 1);
  for (const int iterations : {0, 3}) {
    const Trained<HashModel> trained = TrainBre(
        data, ClusterLabels(400, 5),
        {.bits = 12, .kernel = {.anchors = 60}, .landmarks = 20, .iterations = iterations});
    EXPECT_EQ(trained.model.method, "bre");
    const MatrixF& weights = WeightsOf(trained);
    ASSERT_EQ(weights.cols(), 60);
    for (Index bit = 0; bit < 12; ++bit) EXPECT_EQ((weights.row(bit).array() != 0).count(), 20);
    EXPECT_NE((weights.row(0).array() != 0).matrix(), (weights.row(1).array() != 0).matrix());
  }
  const Trained<HashModel> few = TrainBre(data, ClusterLabels(400, 5),
                                          {.bits = 3, .kernel = {.anchors = 10}, .iterations = 0});
  EXPECT_EQ((WeightsOf(few).array() != 0).count(), 30);
}

TEST(BinaryReconstructiveEmbedding, ObjectiveFallsAndIsThatOfTheCodes) {
  const MatrixF data = MakeClusters(8, 400, 12, 2);
  for (const Labels& labels : {ClusterLabels(400, 4), RandomLabels(400, 5, 3)}) {
    const int bits = 12;
    const Trained<HashModel> trained = TrainBre(
        data, labels, {.bits = bits, .kernel = {.anchors = 60}, .landmarks = 20, .tolerance = 0});
    EXPECT_TRUE(trained.summary.converged);
    const std::vector<TrainingIteration>& iterations = trained.summary.iterations;
    ASSERT_GT(iterations.size(), 1U);
    for (size_t i = 1; i < iterations.size(); ++i) {
      EXPECT_LE(iterations[i].objective, iterations[i - 1].objective);
    }
    EXPECT_EQ(iterations.back().flipped, 0);
    EXPECT_GT(iterations.front().flipped, 0.05);
    const MatrixD h = trained.model.encoder->Project(data).cast<double>().unaryExpr(
        [](double x) { return x < 0 ? -1.0 : 1.0; });
    const MatrixD wanted = (1 - DenseSimilarity(labels).array()) / 2;
    const MatrixD distances = (1 - (h.transpose() * h).array() / bits) / 2;
    EXPECT_NEAR(iterations.back().objective, (wanted - distances).squaredNorm() / (400.0 * 400),
                1e-3);
  }
}

TEST(BinaryReconstructiveEmbedding, SeparatesClasses) {
  ExpectSeparatesClasses(
      [](const ColumnSource& vectors, const Labels& labels, const RunContext& context) {
        return TrainBinaryReconstructiveEmbedding({.bits = 16, .kernel = {.anchors = 100}}, vectors,
                                                  labels, context);
      });
}

TEST(BinaryReconstructiveEmbedding, KeepsTheRulesOfLabels) {
  ExpectKeepsTheRulesOfLabels(
      [](const ColumnSource& vectors, const Labels& labels, const RunContext& context) {
        return TrainBinaryReconstructiveEmbedding({.bits = 8, .iterations = 3}, vectors, labels,
                                                  context);
      });
}

TEST(BinaryReconstructiveEmbedding, SomeSamplesOnly) {
  const MatrixF data = MakeClusters(10, 900, 4, 5);
  const Trained<HashModel> trained =
      TrainBre(data, ClusterLabels(900, 4), {.bits = 8, .kernel = {.anchors = 50}, .samples = 200});
  EXPECT_EQ(trained.summary.samples, 200);
  const ClassDistances distances =
      MeasureClasses(trained.model.encoder->Encode(data), ClusterLabels(900, 4));
  EXPECT_LT(3 * distances.same, distances.different);
}

TEST(BinaryReconstructiveEmbedding, SameAtAnyNumberOfThreads) {
  for (const Index samples : {0, 1500}) {
    ExpectSameAtAnyNumberOfThreads(
        MakeClusters(12, 2500, 9, 6), [&](const ColumnSource& source, const RunContext& context) {
          return TrainBinaryReconstructiveEmbedding({.bits = 10,
                                                     .kernel = {.anchors = 30},
                                                     .landmarks = 10,
                                                     .samples = samples,
                                                     .iterations = 2},
                                                    source, UnevenLabels(2500), context);
        });
  }
}

TEST(BinaryReconstructiveEmbedding, SeedsDiffer) {
  const MatrixF data = MakeClusters(8, 200, 5, 1);
  const auto weights = [&](uint64_t seed) {
    return WeightsOf(TrainBinaryReconstructiveEmbedding({.bits = 4, .iterations = 1},
                                                        MatrixColumns(data), ClusterLabels(200, 5),
                                                        RunContext({.seed = seed})));
  };
  EXPECT_EQ(weights(1), weights(1));
  EXPECT_NE(weights(1), weights(2));
}

TEST(BinaryReconstructiveEmbedding, StopsBetweenPasses) {
  const MatrixF data = MakeClusters(8, 300, 30, 1);
  try {
    TrainBinaryReconstructiveEmbedding({.bits = 16, .tolerance = 0}, MatrixColumns(data),
                                       ClusterLabels(300, 5),
                                       StoppedContext("binary reconstructive embedding", 1));
    ADD_FAILURE() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

TEST(BinaryReconstructiveEmbedding, Refuses) {
  using Options = BinaryReconstructiveEmbeddingOptions;
  EXPECT_THROW(Options{.bits = 0}.Validate(), Error);
  EXPECT_THROW(Options{.kernel = {.anchors = 0}}.Validate(), Error);
  EXPECT_THROW(Options{.iterations = -1}.Validate(), Error);
  EXPECT_THROW(Options{.tolerance = NAN}.Validate(), Error);
  EXPECT_THROW(Options{.samples = 1}.Validate(), Error);
  EXPECT_THAT(RefusalOf([] { Options{.landmarks = 0}.Validate(); }),
              HasSubstr("landmarks: expected 1 or more, got 0"));
  ExpectRefusesBadData([](const ColumnSource& source, const RunContext& context) {
    return TrainBinaryReconstructiveEmbedding(
        {.bits = 8, .kernel = {.anchors = 20}, .iterations = 2}, source,
        ClusterLabels(source.size(), 4), context);
  });
}

}  // namespace
}  // namespace bitpool
