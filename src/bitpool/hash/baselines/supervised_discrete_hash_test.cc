#include "bitpool/hash/baselines/supervised_discrete_hash.h"

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <vector>

#include "bitpool/hash/baselines/supervised_testing.h"

namespace bitpool {
namespace {

const KernelEncoder& EncoderOf(const Trained<HashModel>& trained) {
  return dynamic_cast<const KernelEncoder&>(*trained.model.encoder);
}

double SampleObjective(const MatrixD& weights, const VectorD& q, const VectorD& b) {
  return (weights.transpose() * b).squaredNorm() - 2 * b.dot(q);
}

// (ZZᵀ + ridge)⁻¹ Z Tᵀ, without a ridge on the last row of Z where it is the constant.
MatrixD SlowRidge(const MatrixD& z, const MatrixD& t, double ridge, bool constant) {
  MatrixD system = z * z.transpose();
  system.diagonal().head(z.rows() - (constant ? 1 : 0)).array() += ridge;
  return system.fullPivLu().solve(z * t.transpose());
}

// The authors' steps, matrix by matrix: gives P with the bias as its last column.
struct SlowSdh {
  MatrixD codes;
  MatrixD map;
  std::vector<double> objectives;
};

SlowSdh TrainSlowSdh(const SupervisedDiscreteHashOptions& options, const AnchorKernel& kernel,
                     const MatrixF& x, const Labels& labels, const MatrixF& initial) {
  MatrixD phi(kernel.size() + 1, x.cols());
  for (Index j = 0; j < kernel.size(); ++j) {
    for (Index i = 0; i < x.cols(); ++i) {
      const VectorD difference = (x.col(i) - kernel.anchors().col(j)).cast<double>();
      phi(j, i) = std::exp(-difference.squaredNorm() / (2 * std::pow(kernel.width(), 2)));
    }
  }
  phi.row(phi.rows() - 1).setOnes();
  const MatrixD y = DenseLabels(labels);
  SlowSdh slow{.codes = initial.cast<double>(), .map = {}, .objectives = {}};
  MatrixD& b = slow.codes;
  MatrixD w = SlowRidge(b, y, options.label_ridge, false);
  slow.map = SlowRidge(phi, b, options.encoder_ridge, true).transpose();
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    const MatrixD encoded = slow.map * phi;
    const MatrixD q = options.encoder_weight * encoded + w * y;
    b.setZero();
    for (int sweep = 0; sweep < options.sweeps; ++sweep) {
      for (Index k = 0; k < b.rows(); ++k) {
        MatrixD others = w;
        others.row(k).setZero();
        const Eigen::RowVectorXd best = q.row(k) - w.row(k) * others.transpose() * b;
        b.row(k) = best.unaryExpr([](double value) { return value < 0 ? -1.0 : 1.0; });
      }
    }
    slow.objectives.push_back(((y - w.transpose() * b).squaredNorm() +
                               options.label_ridge * w.squaredNorm() +
                               options.encoder_weight * (b - encoded).squaredNorm()) /
                              static_cast<double>(x.cols()));
    w = SlowRidge(b, y, options.label_ridge, false);
    slow.map = SlowRidge(phi, b, options.encoder_ridge, true).transpose();
  }
  return slow;
}

void ExpectLikeSlow(const SupervisedDiscreteHashOptions& options, const MatrixF& x,
                    const Labels& labels) {
  const RunContext context({.seed = 5});
  const Trained<HashModel> trained =
      TrainSupervisedDiscreteHash(options, MatrixColumns(x), labels, context);
  const KernelEncoder& encoder = EncoderOf(trained);
  const MatrixF initial = RandomSigns(options.bits, x.cols(), context.MakeRandom(2));
  const SlowSdh slow = TrainSlowSdh(options, encoder.kernel(), x, labels, initial);
  const MatrixD weights = slow.map.leftCols(slow.map.cols() - 1);
  EXPECT_LT((encoder.map().weights.cast<double>() - weights).norm(), 1e-2 * weights.norm());
  const MatrixD projected = (weights * encoder.kernel().Columns(x).cast<double>()).colwise() +
                            slow.map.rightCols(1).col(0);
  EXPECT_LT((encoder.Project(x).cast<double>() - projected).cwiseAbs().maxCoeff(), 1e-3);
  ASSERT_LE(trained.summary.iterations.size(), slow.objectives.size());
  for (size_t i = 0; i < trained.summary.iterations.size(); ++i) {
    EXPECT_NEAR(trained.summary.iterations[i].objective, slow.objectives[i],
                1e-5 * slow.objectives[0]);
  }
}

TEST(SupervisedDiscreteHash, TheSameAsTheStepsWrittenOut) {
  const MatrixF x = MakeClusters(6, 150, 5, 1, 2);
  ExpectLikeSlow({.bits = 8, .kernel = {.anchors = 20}}, x, ClusterLabels(150, 5));
  // Constants that give every term a weight.
  ExpectLikeSlow({.bits = 12,
                  .kernel = {.anchors = 30, .width = 2},
                  .iterations = 3,
                  .sweeps = 2,
                  .label_ridge = 0.3,
                  .encoder_ridge = 0.5,
                  .encoder_weight = 0.02},
                 x, UnevenLabels(150));
}

TEST(SupervisedDiscreteHash, FeaturesThatDoNotFitAreMadeAnew) {
  const MatrixF x = MakeClusters(6, 2500, 5, 1, 2);
  const auto train = [&](size_t memory) {
    return TrainSupervisedDiscreteHash({.bits = 8, .kernel = {.anchors = 20}, .memory = memory},
                                       MatrixColumns(x), ClusterLabels(2500, 5), RunContext());
  };
  ExpectSameModel(train(size_t{1} << 20).model, train(1).model);
}

TEST(DiscreteCodeSolver, ASweepNeverRaisesTheObjectiveAndTheLastCannotBeImproved) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const Index bits = 10;
    const MatrixF weights = random.NormalMatrix(bits, 4);
    const VectorF q = 3.0F * random.NormalMatrix(bits, 1);
    const MatrixD w = weights.cast<double>();
    double last = std::numeric_limits<double>::infinity();
    VectorF code(bits);
    for (int sweeps = 1; sweeps <= 50; ++sweeps) {
      VectorF rest = q;
      const DiscreteCodeSolver solver(weights, sweeps);
      solver.Solve(rest, code);
      const double objective = SampleObjective(w, q.cast<double>(), code.cast<double>());
      EXPECT_LE(objective, last + 1e-5);
      last = objective;
      // What is left of q tells the objective without W.
      EXPECT_NEAR(solver.trace() + code.dot(-q - rest), objective, 1e-3);
    }
    for (int pattern = 0; pattern < 1 << bits; ++pattern) {
      VectorD b(bits);
      for (Index k = 0; k < bits; ++k) b[k] = (pattern >> k & 1) != 0 ? 1 : -1;
      const double objective = SampleObjective(w, q.cast<double>(), b);
      if ((b - code.cast<double>()).cwiseAbs().sum() == 2) {  // one bit differs
        EXPECT_GE(objective, last - 1e-4);
      }
    }
  }
}

TEST(DiscreteCodeSolver, WithoutOtherBitsACodeIsTheSigns) {
  VectorF q(4);
  q << -2, 3, 0, -0.5F;
  VectorF code(4), expected(4);
  expected << -1, 1, 1, -1;  // sgn(0) = +1
  DiscreteCodeSolver(MatrixF::Identity(4, 4), 10).Solve(q, code);
  EXPECT_EQ(code, expected);
}

TEST(RandomSigns, AreEvenAndFollowTheSeed) {
  const MatrixF signs = RandomSigns(33, 1000, Random(1));
  EXPECT_TRUE((signs.array().abs() == 1).all());
  EXPECT_LT(std::abs(signs.mean()), 0.03F);
  EXPECT_TRUE(SameBits(signs, RandomSigns(33, 1000, Random(1))));
  EXPECT_FALSE(SameBits(signs, RandomSigns(33, 1000, Random(2))));
}

TEST(SupervisedDiscreteHash, SeparatesClasses) {
  for (const int bits : {8, 32}) {
    ExpectSeparatesClasses(
        [&](const ColumnSource& source, const Labels& labels, const RunContext& context) {
          return TrainSupervisedDiscreteHash({.bits = bits, .kernel = {.anchors = 200}}, source,
                                             labels, context);
        });
  }
}

TEST(SupervisedDiscreteHash, KeepsTheRulesOfLabels) {
  ExpectKeepsTheRulesOfLabels(
      [](const ColumnSource& source, const Labels& labels, const RunContext& context) {
        return TrainSupervisedDiscreteHash({.bits = 8}, source, labels, context);
      });
}

TEST(SupervisedDiscreteHash, LearnsManyClasses) {
  ExpectLearnsManyClasses(
      [](const ColumnSource& source, const Labels& labels, const RunContext& context) {
        return TrainSupervisedDiscreteHash({.bits = 32, .kernel = {.anchors = 500}}, source, labels,
                                           context);
      });
}

TEST(SupervisedDiscreteHash, SameModelAtAnyNumberOfThreads) {
  const MatrixF x = MakeClusters(9, 5000, 6, 3);
  ExpectSameAtAnyNumberOfThreads(x, [](const ColumnSource& source, const RunContext& context) {
    return TrainSupervisedDiscreteHash({.bits = 12, .kernel = {.anchors = 100}}, source,
                                       ClusterLabels(5000, 6), context);
  });
}

TEST(SupervisedDiscreteHash, RefusesBadData) {
  ExpectRefusesBadData([](const ColumnSource& source, const RunContext& context) {
    return TrainSupervisedDiscreteHash({.bits = 6}, source, ClusterLabels(source.size(), 5),
                                       context);
  });
}

TEST(SupervisedDiscreteHash, OptionsWithoutMeaning) {
  const auto refusal = [](const SupervisedDiscreteHashOptions& options) {
    return RefusalOf([&] { options.Validate(); });
  };
  EXPECT_EQ(refusal({}), "(no error)");
  EXPECT_NE(refusal({.bits = 0}), "(no error)");
  EXPECT_NE(refusal({.kernel = {.anchors = 0}}).find("anchors"), std::string::npos);
  EXPECT_NE(refusal({.iterations = 0}).find("iterations"), std::string::npos);
  EXPECT_NE(refusal({.sweeps = 0}).find("sweeps"), std::string::npos);
  EXPECT_NE(refusal({.label_ridge = 0}).find("label_ridge"), std::string::npos);
  EXPECT_NE(refusal({.encoder_ridge = std::nan("")}).find("encoder_ridge"), std::string::npos);
  EXPECT_NE(refusal({.encoder_weight = -1}).find("encoder_weight"), std::string::npos);
}

}  // namespace
}  // namespace bitpool
