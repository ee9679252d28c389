#include "bitpool/hash/kernel_encoder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bitpool/hash/baselines/testing.h"

namespace bitpool {
namespace {

// The definition, pair by pair.
MatrixD SlowKernel(const MatrixF& anchors, double width, const MatrixF& x) {
  MatrixD values(anchors.cols(), x.cols());
  for (Index j = 0; j < anchors.cols(); ++j) {
    for (Index i = 0; i < x.cols(); ++i) {
      const double square = (x.col(i).cast<double>() - anchors.col(j).cast<double>()).squaredNorm();
      values(j, i) = std::exp(-square / (2 * width * width));
    }
  }
  return values;
}

LinearMap RandomMap(Index bits, Index anchors, uint64_t seed) {
  Random random(seed);
  return {.weights = random.NormalMatrix(bits, anchors), .bias = random.NormalMatrix(bits, 1)};
}

// Whether a column of the matrix equals this one.
bool HasColumn(const MatrixF& matrix, const VectorF& column) {
  for (Index i = 0; i < matrix.cols(); ++i) {
    if (matrix.col(i) == column) return true;
  }
  return false;
}

TEST(KernelEncoder, ProjectsByTheDefinition) {
  for (const float mean : {0.0F, 100.0F}) {
    const MatrixF x = MakeClusters(9, 80, 4, 1, mean);
    const MatrixF anchors = x.leftCols(13);
    const LinearMap map = RandomMap(5, 13, 2);
    const KernelEncoder encoder(anchors, 3.5, map);
    EXPECT_EQ(encoder.dimension(), 9);
    EXPECT_EQ(encoder.bits(), 5);
    const MatrixD kernel = SlowKernel(anchors, 3.5, x);
    const MatrixD expected =
        (map.weights.cast<double>() * kernel).colwise() + map.bias.cast<double>();
    EXPECT_LT((encoder.kernel().Columns(x).cast<double>() - kernel).cwiseAbs().maxCoeff(), 2e-6);
    EXPECT_LT((encoder.Project(x).cast<double>() - expected).cwiseAbs().maxCoeff(), 2e-5);
  }
}

TEST(KernelEncoder, AnAnchorIsOneWithItself) {
  const MatrixF anchors = MakeClusters(6, 40, 3, 5, 1000);
  const MatrixF values = AnchorKernel(anchors, 0.5).Columns(anchors);
  for (Index i = 0; i < anchors.cols(); ++i) EXPECT_NEAR(values(i, i), 1, 1e-4);
  EXPECT_LE(values.maxCoeff(), 1.0F);
}

TEST(KernelEncoder, FarFromEveryAnchorOnlyTheBiasIsLeft) {
  const LinearMap map = RandomMap(4, 3, 3);
  const KernelEncoder encoder(MakeClusters(5, 3, 3, 4), 1e-3, map);
  for (const float far : {1e3F, 1e17F, 1e30F}) {
    EXPECT_EQ(encoder.Project(MatrixF::Constant(5, 1, far)), map.bias) << far;
  }
}

TEST(KernelEncoder, NumbersThatAreNotFiniteAreRefused) {
  const KernelEncoder encoder(MakeClusters(5, 3, 3, 4), 1, RandomMap(4, 3, 3));
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    MatrixF x = MakeClusters(5, 4, 2, 5);
    x(2, 1) = bad;
    EXPECT_THROW(encoder.Encode(x), Error);
  }
}

TEST(KernelEncoder, RefusesWhatIsNoEncoder) {
  const MatrixF anchors = MakeClusters(5, 3, 3, 4);
  const LinearMap map = RandomMap(4, 3, 3);
  const auto refusal = [](MatrixF a, double width, LinearMap m) {
    return RefusalOf([&] { KernelEncoder(std::move(a), width, std::move(m)); });
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(refusal(anchors, 1, map), "(no error)");
  for (const double width : {0.0, -1.0, std::nan(""), 1e60, 1e-60, 1e-25}) {
    EXPECT_NE(refusal(anchors, width, map).find("width of a kernel"), std::string::npos) << width;
  }
  EXPECT_NE(refusal(MatrixF(5, 0), 1, map).find("5 × 0"), std::string::npos);
  MatrixF bad = anchors;
  bad(4, 2) = nan;
  EXPECT_NE(refusal(bad, 1, map).find("not finite"), std::string::npos);
  EXPECT_NE(refusal(anchors.leftCols(2), 1, map).find("2 anchors, 4 × 3"), std::string::npos);
  EXPECT_NE(refusal(anchors, 1, {map.weights, map.bias.head(3)}).find("3 biases"),
            std::string::npos);
  EXPECT_NE(refusal(anchors, 1, {map.weights * nan, map.bias}).find("not finite"),
            std::string::npos);
  EXPECT_NE(refusal(anchors, 1, {MatrixF(0, 3), VectorF(0)}), "(no error)");
}

TEST(DrawKernel, AnchorsAreDifferentSamplesAndFollowTheSeed) {
  const MatrixF x = MakeClusters(6, 200, 4, 7);
  const RunContext context;
  const KernelOptions options{.anchors = 30};
  const AnchorKernel kernel = DrawKernel(options, MatrixColumns(x), Random(1), context);
  ASSERT_EQ(kernel.size(), 30);
  for (Index i = 0; i < 30; ++i) {
    EXPECT_TRUE(HasColumn(x, kernel.anchors().col(i)));
    EXPECT_FALSE(HasColumn(kernel.anchors().leftCols(i), kernel.anchors().col(i)));
  }
  EXPECT_TRUE(SameBits(DrawKernel(options, MatrixColumns(x), Random(1), context).anchors(),
                       kernel.anchors()));
  EXPECT_FALSE(SameBits(DrawKernel(options, MatrixColumns(x), Random(2), context).anchors(),
                        kernel.anchors()));
}

TEST(DrawKernel, WithFewSamplesAllAreAnchors) {
  const MatrixF x = MakeClusters(6, 20, 4, 7);
  const AnchorKernel kernel =
      DrawKernel({.anchors = 300}, MatrixColumns(x), Random(1), RunContext());
  EXPECT_TRUE(SameBits(kernel.anchors(), x));
}

TEST(DrawKernel, TheWidthIsTheRootOfTheMeanSquaredDistance) {
  const MatrixF x = MakeClusters(6, 2500, 4, 7, 50);
  const AnchorKernel kernel =
      DrawKernel({.anchors = 40}, MatrixColumns(x), Random(1), RunContext());
  double sum = 0;
  for (Index j = 0; j < 40; ++j) {
    sum += (x.colwise() - kernel.anchors().col(j)).cast<double>().squaredNorm();
  }
  EXPECT_NEAR(kernel.width() / std::sqrt(sum / (40 * 2500)), 1, 1e-5);
  const AnchorKernel asked =
      DrawKernel({.anchors = 40, .width = 0.25}, MatrixColumns(x), Random(1), RunContext());
  EXPECT_EQ(asked.width(), 0.25F);
  EXPECT_TRUE(SameBits(asked.anchors(), kernel.anchors()));
}

TEST(DrawKernel, TheScaleOfTheDataMakesNoDifference) {
  const MatrixF x = MakeClusters(6, 300, 4, 7);
  const MatrixF scaled = 1024.0F * x;
  const RunContext context;
  const auto values = [&](const MatrixF& data) {
    return DrawKernel({.anchors = 20}, MatrixColumns(data), Random(1), context).Columns(data);
  };
  EXPECT_LT((values(x) - values(scaled)).cwiseAbs().maxCoeff(), 1e-6F);
}

TEST(DrawKernel, TheSameAtAnyNumberOfThreads) {
  const MatrixF x = MakeClusters(6, 5000, 4, 7, 3);
  const AnchorKernel one = DrawKernel({}, MatrixColumns(x), Random(1), RunContext({.threads = 1}));
  const AnchorKernel two = DrawKernel({}, CopiedColumns(x), Random(1), RunContext({.threads = 2}));
  EXPECT_EQ(one.width(), two.width());
  EXPECT_TRUE(SameBits(one.anchors(), two.anchors()));
}

TEST(DrawKernel, RefusesWhatHasNoMeaning) {
  const auto refusal = [](const KernelOptions& options, const MatrixF& x) {
    return RefusalOf([&] { DrawKernel(options, MatrixColumns(x), Random(1), RunContext()); });
  };
  const MatrixF x = MakeClusters(6, 100, 4, 7);
  EXPECT_EQ(refusal({}, x), "(no error)");
  EXPECT_NE(refusal({.anchors = 0}, x).find("anchors"), std::string::npos);
  EXPECT_NE(refusal({.width = -1}, x).find("width"), std::string::npos);
  EXPECT_NE(refusal({.width = std::nan("")}, x).find("width"), std::string::npos);
  EXPECT_NE(refusal({}, MatrixF(6, 0)).find("got 0 of 6"), std::string::npos);
  EXPECT_NE(refusal({}, MatrixF::Constant(6, 50, 2)).find("all alike"), std::string::npos);
  MatrixF bad = x;
  bad(3, 77) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(refusal({.anchors = 1}, bad).find("column 77"), std::string::npos);
}

}  // namespace
}  // namespace bitpool
