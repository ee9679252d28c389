#include "bitpool/embed/triangulation_embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Descriptors around several centres, not negative, as SIFT is.
MatrixF MakeDescriptors(Index dimension, Index count, uint64_t seed) {
  Random random(seed);
  const MatrixF centres = random.NormalMatrix(dimension, 5);
  MatrixF data = random.NormalMatrix(dimension, count);
  for (Index i = 0; i < count; ++i) {
    data.col(i) += 2 * centres.col(static_cast<Index>(random.Below(5)));
  }
  return data.cwiseAbs();
}

Trained<TriangulationEmbedding> Train(const TriangulationOptions& options, const MatrixF& data,
                                      int threads = 1) {
  return TrainTriangulation(options, CopiedColumns(data), RunContext({.threads = threads}));
}

// R(x) as the publication writes it.
MatrixD SlowResiduals(const MatrixF& anchors, const MatrixF& data) {
  const Index size = anchors.rows();
  MatrixD residuals = MatrixD::Zero(anchors.size(), data.cols());
  for (Index i = 0; i < data.cols(); ++i) {
    for (Index j = 0; j < anchors.cols(); ++j) {
      double squared = 0;
      for (Index k = 0; k < size; ++k) {
        squared +=
            std::pow(static_cast<double>(data(k, i)) - static_cast<double>(anchors(k, j)), 2);
      }
      if (squared == 0) continue;
      for (Index k = 0; k < size; ++k) {
        residuals(j * size + k, i) =
            (static_cast<double>(data(k, i)) - static_cast<double>(anchors(k, j))) /
            std::sqrt(squared);
      }
    }
  }
  return residuals;
}

// φ with the parts of the embedding.
MatrixD SlowApply(const TriangulationParts& parts, const MatrixF& data) {
  MatrixD residuals = SlowResiduals(parts.anchors, data);
  residuals.colwise() -= parts.mean.cast<double>();
  MatrixD embedded = parts.projection.cast<double>() * residuals;
  for (Index i = 0; i < embedded.size(); ++i) {
    double& z = embedded.data()[i];
    z = std::copysign(std::pow(std::abs(z), parts.power), z);
  }
  for (Index i = 0; parts.normalise && i < embedded.cols(); ++i) {
    if (embedded.col(i).norm() > 0) embedded.col(i).normalize();
  }
  return embedded;
}

double Difference(const MatrixF& got, const MatrixD& expected) {
  EXPECT_EQ(got.rows(), expected.rows());
  EXPECT_EQ(got.cols(), expected.cols());
  return (got.cast<double>() - expected).norm() / std::max(1e-30, expected.norm());
}

TEST(TriangulationEmbedding, AgreesWithTheLoop) {
  struct Case {
    Index dimension, anchors, dropped, count;
    double power;
    bool normalise;
  };
  for (const auto& [dimension, anchors, dropped, count, power, normalise] :
       {Case{8, 4, 8, 700, 1, false}, Case{8, 4, 0, 1, 1, false}, Case{7, 3, 5, 513, 0.5, false},
        Case{5, 1, 2, 20, 1, true}, Case{1, 6, 1, 30, 0.7, true}, Case{16, 9, 143, 10, 1, false}}) {
    const TriangulationOptions options = {
        .anchors = anchors, .dropped = dropped, .power = power, .normalise = normalise};
    const TriangulationEmbedding embedding =
        Train(options, MakeDescriptors(dimension, 3000, 1)).model;
    EXPECT_EQ(embedding.input_dimension(), dimension);
    EXPECT_EQ(embedding.dimension(), dimension * anchors - dropped);
    EXPECT_EQ(embedding.parts().power, power);
    const MatrixF data = MakeDescriptors(dimension, count, 2);
    EXPECT_LT(Difference(embedding.Apply(data), SlowApply(embedding.parts(), data)), 1e-5)
        << dimension << " " << anchors;
  }
}

// The whitening against an eigendecomposition of the literal covariance: each component is the
// same but for its sign.
TEST(TriangulationEmbedding, WhitensAllButTheLargestComponents) {
  const MatrixF data = MakeDescriptors(6, 4000, 3);
  const TriangulationEmbedding embedding = Train({.anchors = 4}, data).model;
  ASSERT_EQ(embedding.dimension(), 3 * 6);  // by default as many are dropped as the input has
  const MatrixD residuals = SlowResiduals(embedding.parts().anchors, data);
  const VectorD mean = residuals.rowwise().mean();
  const MatrixD centred = residuals.colwise() - mean;
  const Eigen::SelfAdjointEigenSolver<MatrixD> eigen(centred * centred.transpose() / 4000.0);
  const MatrixD embedded = embedding.Apply(data).cast<double>();
  for (Index i = 0; i < embedding.dimension(); ++i) {
    const Index ascending = embedding.dimension() - 1 - i;
    const VectorD expected =
        (eigen.eigenvectors().col(ascending).transpose() * centred).transpose() /
        std::sqrt(eigen.eigenvalues()[ascending]);
    const double correlation = embedded.row(i).dot(expected) / 4000.0;
    EXPECT_NEAR(std::abs(correlation), 1, 1e-3) << i;
  }
  const MatrixD covariance = embedded * embedded.transpose() / 4000.0;
  EXPECT_LT((covariance - MatrixD::Identity(18, 18)).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT(embedded.rowwise().mean().cwiseAbs().maxCoeff(), 1e-3);
}

TEST(TriangulationEmbedding, PowerAndUnitLength) {
  const MatrixF data = MakeDescriptors(6, 500, 4);
  TriangulationOptions options = {.anchors = 3};
  const MatrixF plain = Train(options, data).model.Apply(data);
  options.power = 0.5;
  const MatrixF rooted = Train(options, data).model.Apply(data);
  for (Index i = 0; i < plain.size(); ++i) {
    const float z = plain.data()[i];
    ASSERT_NEAR(rooted.data()[i], std::copysign(std::sqrt(std::abs(z)), z), 1e-4F);
  }
  options.normalise = true;
  const MatrixF unit = Train(options, data).model.Apply(data);
  EXPECT_LT((unit.colwise().norm().array() - 1).abs().maxCoeff(), 1e-5F);
  EXPECT_LT((unit - rooted.colwise().normalized()).norm(), 1e-3F);
}

TEST(TriangulationEmbedding, ADescriptorThatIsAnAnchor) {
  const TriangulationEmbedding embedding = Train({.anchors = 3}, MakeDescriptors(6, 500, 5)).model;
  MatrixF data = embedding.parts().anchors;
  EXPECT_LT(Difference(embedding.Apply(data), SlowApply(embedding.parts(), data)), 1e-5);
  // Beside an anchor, the direction is kept however short the way is.
  data(0, 0) = std::nextafter(data(0, 0), 1e9F);
  EXPECT_LT(Difference(embedding.Apply(data), SlowApply(embedding.parts(), data)), 1e-5);
  TriangulationParts at_zero = embedding.parts();
  at_zero.anchors.setZero();
  data.setZero();
  data(2, 1) = std::numeric_limits<float>::denorm_min();
  const MatrixF short_way = TriangulationEmbedding(at_zero).Apply(data);
  EXPECT_LT(Difference(short_way, SlowApply(at_zero, data)), 1e-5);
}

TEST(TriangulationEmbedding, NoDescriptorsAndAPartOfAMatrix) {
  const TriangulationEmbedding embedding = Train({.anchors = 3}, MakeDescriptors(6, 500, 6)).model;
  const MatrixF none = embedding.Apply(MatrixF(6, 0));
  EXPECT_EQ(none.rows(), 12);
  EXPECT_EQ(none.cols(), 0);
  const MatrixF large = MakeDescriptors(9, 40, 7);
  const MatrixF copied = large.block(2, 3, 6, 30);
  EXPECT_LT(
      Difference(embedding.Apply(large.block(2, 3, 6, 30)), SlowApply(embedding.parts(), copied)),
      1e-5);
}

// Fewer samples than components, and the same sample again and again: nothing is blown up.
TEST(TriangulationEmbedding, DirectionsWithoutVarianceAreZero) {
  const MatrixF few = MakeDescriptors(10, 12, 8);
  const Trained<TriangulationEmbedding> trained = Train({.anchors = 4}, few);
  EXPECT_EQ(trained.model.dimension(), 30);
  EXPECT_GE(trained.summary.flat, 29);  // twelve samples span at most eleven directions
  const MatrixF embedded = trained.model.Apply(MakeDescriptors(10, 50, 9));
  EXPECT_TRUE(embedded.allFinite());
  EXPECT_LT(embedded.cwiseAbs().maxCoeff(), 1e3F);
  const MatrixF same = MatrixF::Constant(4, 30, 0.5F);
  const Trained<TriangulationEmbedding> constant = Train({.anchors = 2}, same);
  EXPECT_EQ(constant.summary.flat, constant.model.dimension());
  EXPECT_TRUE(constant.model.Apply(same).isZero(0));
}

TEST(TriangulationEmbedding, TrainedAtAnyNumberOfThreads) {
  const MatrixF data = MakeDescriptors(12, 9000, 10);
  const Trained<TriangulationEmbedding> one = Train({}, data, 1);
  EXPECT_THAT(one.summary.BriefReport(), HasSubstr("12 -> 96 dimensions from 9000 descriptors"));
  EXPECT_GT(one.summary.dropped, 0);
  EXPECT_LT(one.summary.dropped, 1);
  for (const int threads : {2, 5}) {
    const Trained<TriangulationEmbedding> many = Train({}, data, threads);
    EXPECT_TRUE(SameBits(one.model.parts().anchors, many.model.parts().anchors));
    EXPECT_TRUE(SameBits(one.model.parts().mean, many.model.parts().mean));
    EXPECT_TRUE(SameBits(one.model.parts().projection, many.model.parts().projection));
  }
}

TEST(TriangulationEmbedding, StoredAndReadAgain) {
  const TriangulationOptions options = {.anchors = 3, .power = 0.5, .normalise = true};
  const MatrixF data = MakeDescriptors(6, 500, 11);
  const TriangulationEmbedding embedding = Train(options, data).model;
  TriangulationEmbedding::NamedMatrices stored = embedding.Parameters();
  ASSERT_EQ(stored.size(), TriangulationEmbedding::kParameterNames.size());
  for (size_t i = 0; i < stored.size(); ++i) {
    EXPECT_EQ(stored[i].first, TriangulationEmbedding::kParameterNames[i]);
  }
  const auto again = TriangulationEmbedding::FromParameters(stored);
  EXPECT_TRUE(SameBits(again.Apply(data), embedding.Apply(data)));

  const auto refusal = [&](size_t which, const MatrixF& value) {
    TriangulationEmbedding::NamedMatrices broken = stored;
    broken[which].second = value;
    return RefusalOf([&] { TriangulationEmbedding::FromParameters(broken); });
  };
  EXPECT_THAT(refusal(0, MatrixF::Ones(6, 4)), HasSubstr("sizes do not agree"));
  EXPECT_THAT(refusal(0, MatrixF(0, 3)), HasSubstr("sizes do not agree"));
  EXPECT_THAT(refusal(1, MatrixF::Ones(17, 1)), HasSubstr("sizes do not agree"));
  EXPECT_THAT(refusal(1, MatrixF::Ones(9, 2)), HasSubstr("expected one column, got 2"));
  EXPECT_THAT(refusal(2, MatrixF(0, 18)), HasSubstr("sizes do not agree"));
  EXPECT_THAT(refusal(2, MatrixF::Constant(12, 18, kNaN)), HasSubstr("not finite"));
  EXPECT_THAT(refusal(3, MatrixF::Constant(2, 1, 0.5F)), HasSubstr("a power and 0 or 1"));
  EXPECT_THAT(refusal(3, MatrixF::Zero(2, 1)), HasSubstr("more than 0 and at most 1"));
  stored.pop_back();
  EXPECT_THAT(RefusalOf([&] { TriangulationEmbedding::FromParameters(stored); }),
              HasSubstr("without the array \"embedding_finish\""));
}

TEST(TriangulationEmbedding, RefusesWhatMakesNoSense) {
  const MatrixF data = MakeDescriptors(6, 500, 12);
  const auto refusal = [&](const TriangulationOptions& options, const MatrixF& sample) {
    return RefusalOf([&] { Train(options, sample); });
  };
  EXPECT_THAT(refusal({.anchors = 0}, data), HasSubstr("anchors: expected 1 or more, got 0"));
  EXPECT_THAT(refusal({.dropped = -1}, data), HasSubstr("dropped: expected 0 or more, got -1"));
  EXPECT_THAT(refusal({.power = 0}, data), HasSubstr("power: expected more than 0"));
  EXPECT_THAT(refusal({.power = 1.5}, data), HasSubstr("power: expected more than 0"));
  EXPECT_THAT(refusal({.kmeans_iterations = 0}, data), HasSubstr("kmeans_iterations"));
  EXPECT_THAT(refusal({.kmeans_tolerance = -1}, data), HasSubstr("kmeans_tolerance"));
  EXPECT_THAT(refusal({.anchors = 9}, data.leftCols(8)),
              HasSubstr("anchors: 9 cannot be found in 8 descriptors"));
  EXPECT_THAT(refusal({.anchors = 4000}, MatrixF::Zero(6, 5000)),
              HasSubstr("expected at most 2730, got 4000"));
  EXPECT_THAT(refusal({.anchors = 1}, data), HasSubstr("at most 5 can be left out, not 6"));
  EXPECT_THAT(refusal({.anchors = 2, .dropped = 12}, data), HasSubstr("not 12"));
  EXPECT_THAT(refusal({.anchors = 1}, MatrixF(0, 5)), HasSubstr("no dimensions"));
  EXPECT_EQ(Train({.anchors = 2, .dropped = 11}, data).model.dimension(), 1);
}

TEST(TriangulationEmbedding, RefusesNumbersThatAreNotFinite) {
  MatrixF data = MakeDescriptors(6, 5000, 13);
  const TriangulationEmbedding embedding = Train({.anchors = 3}, data).model;
  EXPECT_THAT(RefusalOf([&] { embedding.Apply(MatrixF::Zero(5, 1)); }),
              HasSubstr("descriptors of dimension 5; the embedding was trained for dimension 6"));
  for (const float bad : {kNaN, std::numeric_limits<float>::infinity()}) {
    data(4, 3210) = bad;
    EXPECT_THAT(RefusalOf([&] { embedding.Apply(data); }), HasSubstr("column 3210, row 4"));
    EXPECT_THAT(RefusalOf([&] { Train({.anchors = 3}, data); }), HasSubstr("column 3210, row 4"));
  }
}

TEST(TriangulationEmbedding, StopsWhenAsked) {
  const MatrixF data = MakeDescriptors(6, 500, 14);
  std::stop_source stop;
  stop.request_stop();
  const RunContext context({.threads = 1, .stop = stop.get_token()});
  try {
    TrainTriangulation({}, MatrixColumns(data), context);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

}  // namespace
}  // namespace bitpool
