#include "bitpool/hash/baselines/kernel_supervised_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "bitpool/hash/baselines/pairwise_testing.h"
#include "bitpool/hash/baselines/supervised_testing.h"
#include "bitpool/hash/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

Trained<HashModel> TrainKsh(const MatrixF& data, const Labels& labels,
                            const KernelSupervisedHashOptions& options) {
  return TrainKernelSupervisedHash(options, MatrixColumns(data), labels, RunContext());
}

const KernelEncoder& KshEncoderOf(const Trained<HashModel>& trained) {
  return dynamic_cast<const KernelEncoder&>(*trained.model.encoder);
}

MatrixD SignsOf(const MatrixD& h) {
  return h.unaryExpr([](double x) { return x < 0 ? -1.0 : 1.0; });
}

// Without gradients the bits are generalised eigenvectors, one after the other.
TEST(KernelSupervisedHash, SpectralBitsAreEigenvectorsOfTheResidue) {
  const MatrixF data = MakeClusters(6, 120, 5, 1, 3);
  for (const Labels& labels : {ClusterLabels(120, 5), RandomLabels(120, 6, 2)}) {
    const int bits = 6;
    const Trained<HashModel> trained =
        TrainKsh(data, labels, {.bits = bits, .kernel = {.anchors = 10}, .iterations = 0});
    EXPECT_EQ(trained.model.method, "ksh");
    EXPECT_EQ(trained.summary.samples, 120);
    const MatrixD h = trained.model.encoder->Project(data).cast<double>();
    const MatrixD values = KshEncoderOf(trained).kernel().Columns(data).cast<double>();
    const VectorD mean = values.rowwise().mean();
    const MatrixD features = values.colwise() - mean;
    const MatrixD scatter = features * features.transpose();
    MatrixD residue = bits * DenseSimilarity(labels);
    for (Index bit = 0; bit < bits; ++bit) {
      const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixD> solver(
          features * residue * features.transpose(), scatter);
      VectorD expected = features.transpose() * solver.eigenvectors().rightCols(1);
      expected *= std::sqrt(120.0) / expected.norm();
      if (expected.dot(h.row(bit)) < 0) expected = -expected;
      EXPECT_LT((h.row(bit).transpose() - expected).norm(), 1e-2) << bit;
      const VectorD signs = SignsOf(h.row(bit).transpose());
      residue -= signs * signs.transpose();
      EXPECT_NEAR(trained.summary.iterations[static_cast<size_t>(bit)].objective,
                  residue.squaredNorm() / (120.0 * 120 * bits * bits), 1e-9);
    }
  }
}

TEST(KernelSupervisedHash, GradientsMakeBitsBetter) {
  const MatrixF data = MakeClusters(8, 600, 30, 4);
  const Labels labels = ClusterLabels(600, 6);
  KernelSupervisedHashOptions options{.bits = 12, .kernel = {.anchors = 40}, .iterations = 0};
  const Trained<HashModel> spectral = TrainKsh(data, labels, options);
  options.iterations = 500;
  const Trained<HashModel> smoothed = TrainKsh(data, labels, options);
  ASSERT_EQ(smoothed.summary.iterations.size(), 12U);
  // The first bits start from the same residue.
  EXPECT_LE(smoothed.summary.iterations[0].objective, spectral.summary.iterations[0].objective);
  EXPECT_LT(smoothed.summary.iterations.back().objective,
            0.98 * spectral.summary.iterations.back().objective);
  // What the summary says is true of the codes.
  const MatrixD h = SignsOf(smoothed.model.encoder->Project(data).cast<double>());
  const MatrixD rest = DenseSimilarity(labels) - h.transpose() * h / 12;
  EXPECT_NEAR(smoothed.summary.iterations.back().objective, rest.squaredNorm() / (600.0 * 600),
              1e-3);
}

TEST(KernelSupervisedHash, SeparatesClasses) {
  ExpectSeparatesClasses(
      [](const ColumnSource& vectors, const Labels& labels, const RunContext& context) {
        return TrainKernelSupervisedHash({.bits = 16, .kernel = {.anchors = 60}}, vectors, labels,
                                         context);
      });
}

TEST(KernelSupervisedHash, LearnsManyClasses) {
  ExpectLearnsManyClasses(
      [](const ColumnSource& vectors, const Labels& labels, const RunContext& context) {
        return TrainKernelSupervisedHash({.bits = 16, .iterations = 20}, vectors, labels, context);
      });
}

TEST(KernelSupervisedHash, KeepsTheRulesOfLabels) {
  ExpectKeepsTheRulesOfLabels(
      [](const ColumnSource& vectors, const Labels& labels, const RunContext& context) {
        return TrainKernelSupervisedHash({.bits = 8}, vectors, labels, context);
      });
}

// All share a class, so that no two are to differ.
TEST(KernelSupervisedHash, NothingToTellApart) {
  const MatrixF data = MakeClusters(4, 30, 3, 1);
  std::vector<std::vector<int32_t>> classes(30, {0});
  classes[4] = {0, 1};
  const HashModel model = TrainKsh(data, Labels::Multi(classes), {.bits = 8}).model;
  EXPECT_EQ(model.encoder->Encode(data).size(), 30);
}

TEST(KernelSupervisedHash, SomeSamplesOnly) {
  const MatrixF data = MakeClusters(10, 900, 4, 5);
  const Trained<HashModel> trained =
      TrainKsh(data, ClusterLabels(900, 4), {.bits = 8, .kernel = {.anchors = 50}, .samples = 200});
  EXPECT_EQ(trained.summary.samples, 200);
  const ClassDistances distances =
      MeasureClasses(trained.model.encoder->Encode(data), ClusterLabels(900, 4));
  EXPECT_LT(3 * distances.same, distances.different);
}

TEST(KernelSupervisedHash, SameAtAnyNumberOfThreads) {
  for (const Index samples : {0, 1500}) {
    ExpectSameAtAnyNumberOfThreads(
        MakeClusters(12, 2500, 9, 6), [&](const ColumnSource& source, const RunContext& context) {
          return TrainKernelSupervisedHash(
              {.bits = 10, .kernel = {.anchors = 30}, .samples = samples, .iterations = 20}, source,
              UnevenLabels(2500), context);
        });
  }
}

TEST(KernelSupervisedHash, StopsBetweenBits) {
  const MatrixF data = MakeClusters(8, 300, 5, 1);
  try {
    TrainKernelSupervisedHash({.bits = 16}, MatrixColumns(data), ClusterLabels(300, 5),
                              StoppedContext("kernel supervised hashing", 2));
    ADD_FAILURE() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

TEST(KernelSupervisedHash, Refuses) {
  EXPECT_THROW(KernelSupervisedHashOptions{.bits = 0}.Validate(), Error);
  EXPECT_THROW(KernelSupervisedHashOptions{.kernel = {.anchors = 0}}.Validate(), Error);
  EXPECT_THAT(RefusalOf([] { KernelSupervisedHashOptions{.samples = 1}.Validate(); }),
              HasSubstr("samples: expected 0 (all) or at least 2, got 1"));
  EXPECT_THAT(RefusalOf([] { KernelSupervisedHashOptions{.iterations = -1}.Validate(); }),
              HasSubstr("iterations: expected 0 or more, got -1"));
  ExpectRefusesBadData([](const ColumnSource& source, const RunContext& context) {
    return TrainKernelSupervisedHash({.bits = 8, .kernel = {.anchors = 20}, .iterations = 20},
                                     source, ClusterLabels(source.size(), 4), context);
  });
}

}  // namespace
}  // namespace bitpool
