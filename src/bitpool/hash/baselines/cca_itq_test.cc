#include "bitpool/hash/baselines/cca_itq.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "bitpool/hash/baselines/supervised_testing.h"
#include "bitpool/hash/testing.h"

namespace bitpool {
namespace {

const LinearMap& MapOf(const Trained<HashModel>& trained) {
  return dynamic_cast<const LinearEncoder&>(*trained.model.encoder).map();
}

// The `count` best scaled directions r·w by a dense generalised eigensolver, and r.
struct SlowCca {
  MatrixD directions;
  VectorD correlations;
};

SlowCca ComputeSlowCca(const MatrixF& x, const Labels& labels, double share, Index count) {
  const auto samples = static_cast<double>(x.cols());
  const MatrixD y = DenseLabels(labels);
  const MatrixD xc = x.cast<double>().colwise() - x.cast<double>().rowwise().mean().eval();
  const MatrixD yc = y.colwise() - y.rowwise().mean().eval();
  MatrixD cxx = xc * xc.transpose() / samples, cyy = yc * yc.transpose() / samples;
  const MatrixD cxy = xc * yc.transpose() / samples;
  const auto occurring = static_cast<double>((y.rowwise().sum().array() > 0).count());
  cxx.diagonal().array() += share * cxx.trace() / static_cast<double>(x.rows());
  cyy.diagonal().array() += share * cyy.trace() / occurring;
  const MatrixD a = cxy * cyy.inverse() * cxy.transpose();
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixD> solver(0.5 * (a + a.transpose()), cxx);
  SlowCca cca;
  cca.correlations = solver.eigenvalues().tail(count).reverse().cwiseMax(0).cwiseSqrt();
  cca.directions =
      solver.eigenvectors().rowwise().reverse().leftCols(count) * cca.correlations.asDiagonal();
  return cca;
}

// The rotation has orthonormal columns, so it vanishes from WᵀW.
void ExpectDirections(const MatrixF& x, const Labels& labels, const CcaItqOptions& options,
                      Index count) {
  const Trained<HashModel> trained = TrainCcaItq(options, MatrixColumns(x), labels, RunContext());
  const SlowCca cca = ComputeSlowCca(x, labels, options.regularisation, count);
  const MatrixD weights = MapOf(trained).weights.cast<double>();
  const MatrixD expected = cca.directions * cca.directions.transpose();
  EXPECT_LT((weights.transpose() * weights - expected).norm(), 1e-4 * expected.norm());
  const VectorD centre = weights * MeanOf(x) + MapOf(trained).bias.cast<double>();
  EXPECT_LT(centre.cwiseAbs().maxCoeff(), 1e-4);
}

TEST(CcaItq, DirectionsAreThoseOfADenseSolver) {
  const MatrixF x = MakeClusters(12, 700, 6, 1, 3);
  // Fewer bits than correlations, which are one less than the classes; as many; and more.
  ExpectDirections(x, ClusterLabels(700, 6), {.bits = 3}, 3);
  ExpectDirections(x, ClusterLabels(700, 6), {.bits = 5}, 5);
  ExpectDirections(x, ClusterLabels(700, 6), {.bits = 8}, 5);
  ExpectDirections(x, ClusterLabels(700, 6), {.bits = 40}, 5);
  ExpectDirections(x, ClusterLabels(700, 6), {.bits = 5, .regularisation = 0.5}, 5);
  // Several classes or none for a sample, a class without samples.
  ExpectDirections(x, UnevenLabels(700), {.bits = 4}, 4);
}

TEST(CcaItq, FewDimensionsAndManyClasses) {
  const MatrixF x = MakeClusters(3, 500, 9, 2);
  ExpectDirections(x, ClusterLabels(500, 9), {.bits = 16}, 3);
}

TEST(CcaItq, CodesAreARotationThatFits) {
  const MatrixF x = MakeClusters(12, 700, 6, 1, 3);
  const Trained<HashModel> trained =
      TrainCcaItq({.bits = 5}, MatrixColumns(x), ClusterLabels(700, 6), RunContext());
  EXPECT_EQ(trained.model.method, "cca-itq");
  ASSERT_FALSE(trained.summary.iterations.empty());
  for (size_t i = 1; i < trained.summary.iterations.size(); ++i) {
    EXPECT_LE(trained.summary.iterations[i].objective,
              trained.summary.iterations[i - 1].objective + 1e-6);
  }
  const MatrixD rotated = trained.model.encoder->Project(x).cast<double>();
  const MatrixD signs = rotated.unaryExpr([](double value) { return value < 0 ? -1.0 : 1.0; });
  EXPECT_LE((signs - rotated).squaredNorm() / 700,
            trained.summary.iterations.back().objective + 1e-4);
}

TEST(CcaItq, TheScaleOfTheDataMakesNoDifference) {
  const MatrixF x = MakeClusters(10, 400, 4, 7);
  const MatrixF scaled = 4096.0F * x;
  const auto codes = [&](const MatrixF& data) {
    return TrainCcaItq({.bits = 12}, MatrixColumns(data), ClusterLabels(400, 4), RunContext())
        .model.encoder->Encode(data);
  };
  EXPECT_TRUE(std::ranges::equal(codes(x).rows(), codes(scaled).rows()));
}

TEST(CcaItq, SeparatesClasses) {
  for (const int bits : {8, 32}) {
    ExpectSeparatesClasses(
        [&](const ColumnSource& source, const Labels& labels, const RunContext& context) {
          return TrainCcaItq({.bits = bits}, source, labels, context);
        });
  }
}

TEST(CcaItq, KeepsTheRulesOfLabels) {
  ExpectKeepsTheRulesOfLabels(
      [](const ColumnSource& source, const Labels& labels, const RunContext& context) {
        return TrainCcaItq({.bits = 8}, source, labels, context);
      });
}

TEST(CcaItq, LearnsManyClasses) {
  ExpectLearnsManyClasses(
      [](const ColumnSource& source, const Labels& labels, const RunContext& context) {
        return TrainCcaItq({.bits = 32}, source, labels, context);
      });
}

TEST(CcaItq, ConstantDimensionsAndFewSamples) {
  MatrixF x = MakeClusters(40, 20, 4, 7);  // fewer samples than dimensions
  x.row(3).setConstant(5);
  const Trained<HashModel> trained = TrainCcaItq({.bits = 8, .regularisation = 0}, MatrixColumns(x),
                                                 ClusterLabels(20, 4), RunContext());
  const ClassDistances distances =
      MeasureClasses(trained.model.encoder->Encode(x), ClusterLabels(20, 4));
  EXPECT_LT(5 * distances.same, distances.different);
}

TEST(CcaItq, LabelsThatAreNotCorrelatedAreRefused) {
  MatrixF x(1, 4);
  x << 1, 2, 1, 2;
  const std::string refusal = RefusalOf([&] {
    TrainCcaItq({.bits = 2}, MatrixColumns(x), Labels::Single({0, 0, 1, 1}), RunContext());
  });
  EXPECT_NE(refusal.find("not correlated"), std::string::npos) << refusal;
}

TEST(CcaItq, SameModelAtAnyNumberOfThreads) {
  const MatrixF x = MakeClusters(9, 5000, 6, 3);
  ExpectSameAtAnyNumberOfThreads(x, [](const ColumnSource& source, const RunContext& context) {
    return TrainCcaItq({.bits = 12}, source, ClusterLabels(5000, 6), context);
  });
}

TEST(CcaItq, RefusesBadData) {
  ExpectRefusesBadData([](const ColumnSource& source, const RunContext& context) {
    return TrainCcaItq({.bits = 6}, source, ClusterLabels(source.size(), 5), context);
  });
}

TEST(CcaItq, OptionsWithoutMeaning) {
  const auto refusal = [](const CcaItqOptions& options) {
    return RefusalOf([&] { options.Validate(); });
  };
  EXPECT_EQ(refusal({}), "(no error)");
  EXPECT_NE(refusal({.bits = 0}), "(no error)");
  EXPECT_NE(refusal({.regularisation = -1}).find("regularisation"), std::string::npos);
  EXPECT_NE(refusal({.regularisation = std::nan("")}).find("regularisation"), std::string::npos);
  EXPECT_NE(refusal({.iterations = 0}).find("iterations"), std::string::npos);
  EXPECT_NE(refusal({.memory = 0}).find("memory"), std::string::npos);
}

TEST(CcaItq, InterruptedLeavesTheRotationSoFar) {
  const MatrixF x = MakeClusters(9, 3000, 6, 3);
  const Trained<HashModel> trained =
      TrainCcaItq({.bits = 12}, MatrixColumns(x), ClusterLabels(3000, 6), StoppedContext("ITQ", 2));
  EXPECT_TRUE(trained.summary.interrupted);
  EXPECT_EQ(trained.summary.iterations.size(), 2U);
}

}  // namespace
}  // namespace bitpool
