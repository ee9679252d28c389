#include "bitpool/linalg/moments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <stop_token>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Data with correlated rows of different scales.
MatrixF MakeSamples(Index dimension, Index count, uint64_t seed, float mean = 0) {
  Random random(seed);
  MatrixF data = random.NormalMatrix(dimension, count);
  data += 2 * random.NormalMatrix(dimension, 3) * random.NormalMatrix(3, count);
  data.array() += mean;
  return data;
}

struct SlowMoments {
  VectorD mean;
  MatrixD scatter;
};

// Two passes over all of it in double precision.
MatrixD Centred(const MatrixF& data) {
  const MatrixD exact = data.cast<double>();
  return exact.colwise() - exact.rowwise().mean().eval();
}

SlowMoments TwoPasses(const MatrixF& data) {
  const MatrixD centred = Centred(data);
  return {.mean = data.cast<double>().rowwise().mean(), .scatter = centred * centred.transpose()};
}

double RelativeError(const MatrixD& got, const MatrixD& expected) {
  const double scale = expected.cwiseAbs().maxCoeff();
  return (got - expected).cwiseAbs().maxCoeff() / (scale > 0 ? scale : 1);
}

TEST(Moments, AgreeWithTwoPasses) {
  struct Case {
    Index dimension, count;
  };
  // One tile and several, one chunk and several, fewer samples than dimensions and more.
  for (const auto& [dimension, count] :
       {Case{1, 1}, Case{1, 500}, Case{5, 1}, Case{40, 7}, Case{7, 5000}, Case{200, 30},
        Case{600, 1100}, Case{3, 40000}}) {
    const MatrixF data = MakeSamples(dimension, count, 1);
    const SlowMoments expected = TwoPasses(data);
    const Moments moments = ComputeMoments(MatrixColumns(data), RunContext());
    EXPECT_EQ(moments.count(), count);
    EXPECT_LT(RelativeError(moments.mean(), expected.mean), 1e-12) << dimension << "×" << count;
    EXPECT_LT(RelativeError(moments.scatter(), expected.scatter), 2e-6)
        << dimension << "×" << count;
    EXPECT_EQ(moments.scatter(), moments.scatter().transpose());
    EXPECT_LT(RelativeError(moments.Covariance() * static_cast<double>(count), expected.scatter),
              2e-6);
  }
}

TEST(Moments, ALargeMeanCostsNoPrecision) {
  const MatrixF data = MakeSamples(20, 6000, 2, 1e6F);
  const SlowMoments expected = TwoPasses(data);
  EXPECT_GT(expected.mean.minCoeff(), 9e5);
  const Moments moments = ComputeMoments(MatrixColumns(data), RunContext());
  EXPECT_LT(RelativeError(moments.mean(), expected.mean), 1e-14);
  EXPECT_LT(RelativeError(moments.scatter(), expected.scatter), 2e-6);
}

TEST(Moments, AMeanThatDriftsFromChunkToChunkIsCorrected) {
  MatrixF data = MakeSamples(6, 9000, 3);
  for (Index i = 0; i < data.cols(); ++i) data.col(i).array() += 0.002F * static_cast<float>(i);
  const SlowMoments expected = TwoPasses(data);
  const Moments moments = ComputeMoments(MatrixColumns(data), RunContext());
  EXPECT_LT(RelativeError(moments.scatter(), expected.scatter), 2e-6);
}

TEST(Moments, ConstantDataHasNoScatter) {
  const MatrixF data = MatrixF::Constant(4, 5000, 1e6F / 3);
  const Moments moments = ComputeMoments(MatrixColumns(data), RunContext());
  EXPECT_TRUE(moments.scatter().isZero(0));
  EXPECT_NEAR(moments.mean()[2], 1e6 / 3, 0.03);
}

TEST(Moments, TheSameBitsAtAnyNumberOfThreadsAndFromAnySource) {
  const MatrixF data = MakeSamples(210, 20000, 4, 10);
  const Moments one = ComputeMoments(MatrixColumns(data), RunContext({.threads = 1}));
  Moments added(data.rows());
  added.Add(data);
  EXPECT_TRUE(SameBits(added.scatter(), one.scatter()));
  EXPECT_TRUE(SameBits(added.mean(), one.mean()));
  for (const int threads : {2, 5}) {
    const RunContext context({.threads = threads});
    const Moments many = ComputeMoments(CopiedColumns(data), context);
    EXPECT_TRUE(SameBits(many.scatter(), one.scatter()));
    EXPECT_TRUE(SameBits(many.mean(), one.mean()));
  }
}

TEST(Moments, PartsAddUp) {
  const MatrixF data = MakeSamples(12, 3000, 5, 100);
  const SlowMoments expected = TwoPasses(data);
  Moments whole(12), added(12);
  Index first = 0;
  for (const Index count : {1, 0, 700, 2, 2297}) {
    MatrixF shard = data.middleCols(first, count);
    Moments part(12);
    part.Add(shard);
    whole.Merge(part);
    added.Add(shard);
    first += count;
  }
  ASSERT_EQ(first, data.cols());
  for (const Moments& moments : {whole, added}) {
    EXPECT_EQ(moments.count(), 3000);
    EXPECT_LT(RelativeError(moments.mean(), expected.mean), 1e-12);
    EXPECT_LT(RelativeError(moments.scatter(), expected.scatter), 2e-6);
    EXPECT_EQ(moments.scatter(), moments.scatter().transpose());
  }
}

TEST(Moments, MergesFarPartsByHand) {
  // Two points at −1 and +3 with weights 1 and 3: mean 2, scatter 9 + 3.
  Moments a(1, VectorD::Constant(1, -1), MatrixD::Zero(1, 1));
  const Moments b(3, VectorD::Constant(1, 3), MatrixD::Zero(1, 1));
  a.Merge(b);
  EXPECT_EQ(a.count(), 4);
  EXPECT_DOUBLE_EQ(a.mean()[0], 2);
  EXPECT_DOUBLE_EQ(a.scatter()(0, 0), 12);
}

TEST(Moments, OfNothing) {
  const MatrixF none(3, 0);
  const Moments moments = ComputeMoments(MatrixColumns(none), RunContext());
  EXPECT_EQ(moments.count(), 0);
  EXPECT_TRUE(moments.mean().isZero(0));
  EXPECT_THAT(RefusalOf([&] { moments.Covariance(); }), HasSubstr("no samples"));
}

TEST(Moments, RefuseWrongSizes) {
  Moments moments(3);
  EXPECT_THAT(RefusalOf([&] { moments.Add(MatrixF::Zero(4, 2)); }), HasSubstr("expected 3, got 4"));
  EXPECT_THROW(moments.Merge(Moments(2)), Error);
  EXPECT_THROW(Moments(1, VectorD::Zero(2), MatrixD::Zero(2, 3)), Error);
  EXPECT_THROW(Moments(-1, VectorD::Zero(2), MatrixD::Zero(2, 2)), Error);
}

TEST(Moments, NameTheColumnThatIsNotFinite) {
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    MatrixF data = MatrixF::Ones(3, 9000);
    data(1, 5000) = bad;
    data(0, 8999) = kNan;
    for (const int threads : {1, 4}) {
      const RunContext context({.threads = threads});
      EXPECT_THAT(RefusalOf([&] { ComputeMoments(MatrixColumns(data), context); }),
                  StartsWith("column 5000, row 1"));
    }
  }
}

TEST(Moments, OppositeInfinitiesDoNotHideEachOther) {
  MatrixF data = MatrixF::Ones(1, 10);
  data(0, 3) = kInfinity;
  data(0, 4) = -kInfinity;
  EXPECT_THAT(RefusalOf([&] { Moments(1).Add(data); }), StartsWith("column 3, row 0"));
}

TEST(Moments, RefuseValuesTooLargeToSquare) {
  MatrixF data = MatrixF::Zero(2, 4);
  data(1, 2) = 1e30F;
  EXPECT_THAT(RefusalOf([&] { Moments(2).Add(data); }), HasSubstr("so large"));
  data(1, 2) = 1e18F;
  Moments good(2);
  good.Add(data);
  EXPECT_NEAR(good.scatter()(1, 1) / 0.75e36, 1, 1e-6);
}

TEST(Moments, StopWhenAsked) {
  std::stop_source source;
  source.request_stop();
  const MatrixF data = MatrixF::Zero(2, 4);
  try {
    ComputeMoments(MatrixColumns(data), RunContext({.stop = source.get_token()}));
    FAIL() << "ran to its end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

TEST(Moments, ReportProgress) {
  struct Last : ProgressSink {
    void Report(const ProgressUpdate& update) override {
      const std::lock_guard lock(mutex);
      done = std::max(done, update.done);
      total = update.total;
    }
    std::mutex mutex;
    uint64_t done = 0, total = 0;
  };
  const auto sink = std::make_shared<Last>();
  const MatrixF data = MatrixF::Zero(2, 5000);
  ComputeMoments(MatrixColumns(data), RunContext({.progress = sink}));
  EXPECT_EQ(sink->done, 5000U);
  EXPECT_EQ(sink->total, 5000U);
}

TEST(CrossMoments, AgreeWithTwoPasses) {
  struct Case {
    Index inputs, targets, count;
  };
  // The last has so many tiles that threads share them.
  for (const auto& [inputs, targets, count] :
       {Case{1, 1, 1}, Case{1, 3, 50}, Case{30, 2, 10}, Case{5, 250, 4100}, Case{300, 4, 2500},
        Case{530, 1600, 12}}) {
    const MatrixF x = MakeSamples(inputs, count, 6, 1000);
    MatrixF t = MakeSamples(targets, count, 7, -30);
    t.row(0) += 2 * x.row(0);
    const MatrixD expected = Centred(t) * Centred(x).transpose();
    const CrossMoments moments =
        ComputeCrossMoments(MatrixColumns(x), CopiedColumns(t), RunContext());
    EXPECT_EQ(moments.count(), count);
    EXPECT_EQ(moments.cross().count(), count);
    EXPECT_LT(RelativeError(moments.cross().scatter(), expected), 5e-6) << inputs << " " << targets;
    EXPECT_LT(RelativeError(moments.cross().target_mean(), TwoPasses(t).mean), 1e-12);
    // The inputs' part and the part without their scatter are the same as those computed alone.
    const Moments alone = ComputeMoments(MatrixColumns(x), RunContext());
    EXPECT_TRUE(SameBits(moments.inputs().scatter(), alone.scatter()));
    const CrossScatter cross =
        ComputeCrossScatter(MatrixColumns(x), MatrixColumns(t), RunContext());
    EXPECT_EQ(cross.count(), count);
    EXPECT_TRUE(SameBits(cross.scatter(), moments.cross().scatter()));
    EXPECT_TRUE(SameBits(cross.input_mean(), alone.mean()));
    EXPECT_TRUE(SameBits(moments.cross().input_mean(), alone.mean()));
  }
}

void ExpectSameBitsAtAnyNumberOfThreads(const MatrixF& x, const MatrixF& t) {
  const auto run = [&](int threads) {
    const RunContext context({.threads = threads});
    return ComputeCrossMoments(MatrixColumns(x), MatrixColumns(t), context);
  };
  const CrossMoments one = run(1);
  for (const int threads : {2, 5}) {
    const CrossMoments many = run(threads);
    EXPECT_TRUE(SameBits(many.cross().scatter(), one.cross().scatter()));
    EXPECT_TRUE(SameBits(many.inputs().scatter(), one.inputs().scatter()));
    EXPECT_TRUE(SameBits(many.cross().target_mean(), one.cross().target_mean()));
  }
}

TEST(CrossMoments, TheSameBitsAtAnyNumberOfThreads) {
  ExpectSameBitsAtAnyNumberOfThreads(MakeSamples(30, 20000, 8), MakeSamples(8, 20000, 9));
  ExpectSameBitsAtAnyNumberOfThreads(MakeSamples(530, 1100, 8), MakeSamples(1600, 1100, 9));
}

TEST(CrossMoments, PartsAddUp) {
  const MatrixF x = MakeSamples(6, 1000, 10, 50), t = MakeSamples(3, 1000, 11, -7);
  const MatrixD expected = Centred(t) * Centred(x).transpose();
  CrossMoments merged(6, 3), added(6, 3);
  for (const Index first : {0, 250, 500, 750}) {
    MatrixF x_part = x.middleCols(first, 250), t_part = t.middleCols(first, 250);
    CrossMoments part(6, 3);
    part.Add(x_part, t_part);
    merged.Merge(part);
    added.Add(x_part, t_part);
  }
  for (const CrossMoments& moments : {merged, added}) {
    EXPECT_EQ(moments.count(), 1000);
    EXPECT_LT(RelativeError(moments.cross().scatter(), expected), 5e-6);
    EXPECT_LT(RelativeError(moments.cross().target_mean(), TwoPasses(t).mean), 1e-12);
    EXPECT_LT(RelativeError(moments.cross().input_mean(), TwoPasses(x).mean), 1e-12);
    EXPECT_LT(RelativeError(moments.inputs().scatter(), TwoPasses(x).scatter), 2e-6);
  }
}

TEST(CrossMoments, CrossScatterMergesByHand) {
  // Inputs and targets 0 and 4, 0 and 2: means 2 and 1, cross scatter 2·2·1.
  CrossScatter a(1, 1), b(1, 1);
  a.Add(MatrixF::Zero(1, 1), MatrixF::Zero(1, 1));
  b.Add(MatrixF::Constant(1, 1, 4), MatrixF::Constant(1, 1, 2));
  a.Merge(b);
  EXPECT_DOUBLE_EQ(a.input_mean()[0], 2);
  EXPECT_DOUBLE_EQ(a.target_mean()[0], 1);
  EXPECT_DOUBLE_EQ(a.scatter()(0, 0), 4);
}

TEST(CrossMoments, RefuseWhatDoesNotBelongTogether) {
  CrossMoments moments(2, 3);
  EXPECT_THAT(RefusalOf([&] { moments.Add(MatrixF::Zero(2, 4), MatrixF::Zero(3, 5)); }),
              HasSubstr("one for every input"));
  EXPECT_THROW(moments.Add(MatrixF::Zero(3, 4), MatrixF::Zero(3, 4)), Error);
  EXPECT_THROW(moments.Add(MatrixF::Zero(2, 4), MatrixF::Zero(2, 4)), Error);
  EXPECT_THROW(moments.Merge(CrossMoments(3, 3)), Error);
  EXPECT_THROW(moments.Merge(CrossMoments(2, 2)), Error);
  MatrixF t = MatrixF::Zero(3, 4);
  t(1, 2) = kNan;
  EXPECT_THAT(RefusalOf([&] { moments.Add(MatrixF::Zero(2, 4), t); }),
              StartsWith("column 2, row 1"));
  t(1, 2) = 1e30F;
  MatrixF x = MatrixF::Zero(2, 4);
  x(0, 2) = 1e17F;
  EXPECT_THAT(RefusalOf([&] { CrossScatter(2, 3).Add(x, t); }), HasSubstr("so large"));
}

}  // namespace
}  // namespace bitpool
