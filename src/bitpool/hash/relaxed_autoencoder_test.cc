#include "bitpool/hash/relaxed_autoencoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/hash/testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

// A random problem, with its objective computed straight from its definition, in double precision.
struct Problem {
  MatrixF x, t;
  BinaryCodes initial{1};
  AutoencoderWeights weights;
  bool own_targets = false;

  Problem(Index dimension, Index count, int bits, Index target_dimension, uint64_t seed)
      : x(ClusteredSamples(dimension, count, seed)), own_targets(target_dimension > 0) {
    Random random(seed + 1);
    t = own_targets ? random.NormalMatrix(target_dimension, count) : x;
    initial = BinaryCodes::FromSigns(random.NormalMatrix(bits, count));
    weights = {.quantisation = 0.3 + random.Uniform(),
               .encoder_ridge = 0.1 + random.Uniform(),
               .decoder_ridge = 0.01 + 0.1 * random.Uniform()};
  }

  RelaxedAutoencoder Start(const RunContext& context = RunContext()) {
    inputs_ = std::make_unique<MatrixColumns>(x);
    targets_ = std::make_unique<MatrixColumns>(t);
    return {weights,
            *inputs_,
            ComputeMoments(*inputs_, context),
            own_targets ? targets_.get() : nullptr,
            initial,
            context};
  }

  double Reconstruction(const LinearMap& decoder, const MatrixD& b) const {
    return ((t.cast<double>() - decoder.weights.cast<double>() * b).colwise() -
            decoder.bias.cast<double>())
               .squaredNorm() /
           static_cast<double>(x.cols());
  }
  double Quantisation(const LinearMap& encoder, const MatrixD& b) const {
    return ((b - encoder.weights.cast<double>() * x.cast<double>()).colwise() -
            encoder.bias.cast<double>())
               .squaredNorm() /
           static_cast<double>(x.cols());
  }
  double Objective(const LinearMap& encoder, const LinearMap& decoder, const MatrixD& b) const {
    return Reconstruction(decoder, b) +
           weights.quantisation *
               (Quantisation(encoder, b) +
                weights.encoder_ridge * encoder.weights.cast<double>().squaredNorm()) +
           weights.decoder_ridge * decoder.weights.cast<double>().squaredNorm();
  }

 private:
  std::unique_ptr<MatrixColumns> inputs_, targets_;
};

MatrixD SignMatrix(const BinaryCodes& codes) {
  return SignsOf(codes, 0, codes.size()).cast<double>();
}

// min ‖T − WX − c1ᵀ‖² + ridge‖W‖² by QR of the stacked system [Xᵀ 1; √ridge I 0].
LinearMap SlowRidge(const MatrixD& x, const MatrixD& t, double ridge) {
  MatrixD design = MatrixD::Zero(x.cols() + x.rows(), x.rows() + 1);
  design.topLeftCorner(x.cols(), x.rows()) = x.transpose();
  design.topRightCorner(x.cols(), 1).setOnes();
  design.bottomLeftCorner(x.rows(), x.rows()).diagonal().setConstant(std::sqrt(ridge));
  MatrixD right = MatrixD::Zero(design.rows(), t.rows());
  right.topRows(x.cols()) = t.transpose();
  const MatrixD solution = design.colPivHouseholderQr().solve(right);
  return {.weights = solution.topRows(x.rows()).transpose().cast<float>(),
          .bias = solution.row(x.rows()).transpose().cast<float>()};
}

class RelaxedAutoencoderTest : public ::testing::TestWithParam<Index> {};

TEST_P(RelaxedAutoencoderTest, ClosedFormsAreTheLeastSquaresSolutions) {
  Problem problem(5, 300, 4, GetParam(), 7);
  const RelaxedAutoencoder autoencoder = problem.Start();
  const MatrixD b = SignMatrix(problem.initial);
  const LinearMap encoder =
      SlowRidge(problem.x.cast<double>(), b, 300 * problem.weights.encoder_ridge);
  const LinearMap decoder =
      SlowRidge(b, problem.t.cast<double>(), 300 * problem.weights.decoder_ridge);
  EXPECT_LT((autoencoder.Encoder().weights - encoder.weights).norm(), 1e-5);
  EXPECT_LT((autoencoder.Encoder().bias - encoder.bias).norm(), 1e-4);
  EXPECT_LT((autoencoder.Decoder().weights - decoder.weights).norm(), 1e-4);
  EXPECT_LT((autoencoder.Decoder().bias - decoder.bias).norm(), 1e-4);
}

// One bit at a time, each tried both ways against the objective itself.
TEST_P(RelaxedAutoencoderTest, SweepIsExhaustiveSearchOverOneBitAtATime) {
  for (const int bits : {1, 3, 10}) {
    Problem problem(6, 200, bits, GetParam(), static_cast<uint64_t>(bits));
    RelaxedAutoencoder autoencoder = problem.Start();
    const LinearMap encoder = autoencoder.Encoder();
    const LinearMap decoder = autoencoder.Decoder();
    MatrixD b = SignMatrix(problem.initial);
    const MatrixD h = (encoder.weights.cast<double>() * problem.x.cast<double>()).colwise() +
                      encoder.bias.cast<double>();
    for (Index sample = 0; sample < b.cols(); ++sample) {
      const auto cost = [&](const VectorD& code) {
        return (problem.t.col(sample).cast<double>() - decoder.weights.cast<double>() * code -
                decoder.bias.cast<double>())
                   .squaredNorm() +
               problem.weights.quantisation * (code - h.col(sample)).squaredNorm();
      };
      for (Index bit = 0; bit < bits; ++bit) {
        VectorD plus = b.col(sample), minus = b.col(sample);
        plus[bit] = 1;
        minus[bit] = -1;
        b(bit, sample) = cost(plus) <= cost(minus) ? 1 : -1;
      }
    }
    autoencoder.Iterate(RunContext());
    EXPECT_EQ(SignMatrix(autoencoder.codes()), b) << bits << " bits";
  }
}

TEST_P(RelaxedAutoencoderTest, EveryStepLowersTheObjective) {
  Problem problem(9, 2100, 6, GetParam(), 21);
  RelaxedAutoencoder autoencoder = problem.Start();
  double before = 1e30;
  for (int i = 0; i < 8; ++i) {
    const MatrixD b = SignMatrix(autoencoder.codes());
    const LinearMap encoder = autoencoder.Encoder();
    const LinearMap decoder = autoencoder.Decoder();
    const double solved = problem.Objective(encoder, decoder, b);
    EXPECT_LE(solved, before * (1 + 1e-6)) << "(W, c)-step " << i;
    const TrainingIteration record = autoencoder.Iterate(RunContext());
    const MatrixD swept = SignMatrix(autoencoder.codes());
    before = problem.Objective(encoder, decoder, swept);
    EXPECT_LE(before, solved * (1 + 1e-6)) << "B-step " << i;
    // And the record says so, though it was computed from sums.
    EXPECT_NEAR(record.objective, before, 1e-4 * before);
    EXPECT_NEAR(record.reconstruction, problem.Reconstruction(decoder, swept),
                1e-4 * record.reconstruction);
    EXPECT_NEAR(record.quantisation, problem.Quantisation(encoder, swept), 1e-4);
    EXPECT_NEAR(record.flipped, (swept - b).cwiseAbs().sum() / 2 / static_cast<double>(b.size()),
                1e-12);
  }
}

TEST_P(RelaxedAutoencoderTest, SameAtAnyNumberOfThreads) {
  Problem problem(9, 5000, 11, GetParam(), 22);
  RelaxedAutoencoder one = problem.Start(RunContext({.threads = 1}));
  one.Iterate(RunContext({.threads = 1}));
  Problem again(9, 5000, 11, GetParam(), 22);
  RelaxedAutoencoder four = again.Start(RunContext({.threads = 4}));
  four.Iterate(RunContext({.threads = 4}));
  EXPECT_TRUE(SameBits(one.Encoder().weights, four.Encoder().weights));
  EXPECT_TRUE(SameBits(one.Decoder().weights, four.Decoder().weights));
}

// 0: the targets are the inputs, as in RBA; 3: targets of their own, as SASH's labels.
INSTANTIATE_TEST_SUITE_P(Targets, RelaxedAutoencoderTest, ::testing::Values(0, 3));

TEST(RelaxedAutoencoder, RefusesWhatDoesNotBelongTogether) {
  Problem problem(4, 50, 3, 2, 1);
  const MatrixColumns inputs(problem.x), targets(problem.t.leftCols(49));
  const Moments moments = ComputeMoments(inputs, RunContext());
  EXPECT_THAT(RefusalOf([&] {
                RelaxedAutoencoder(problem.weights, inputs, moments, &targets, problem.initial,
                                   RunContext());
              }),
              ::testing::HasSubstr("49 targets for 50 samples"));
  EXPECT_THAT(RefusalOf([&] {
                RelaxedAutoencoder(problem.weights, inputs, moments, nullptr,
                                   BinaryCodes::FromSigns(MatrixF::Ones(3, 7)), RunContext());
              }),
              ::testing::HasSubstr("7 initial codes for 50 samples"));
  EXPECT_THAT(RefusalOf([&] {
                RelaxedAutoencoder(problem.weights, inputs, Moments(4), nullptr, problem.initial,
                                   RunContext());
              }),
              ::testing::HasSubstr("samples"));
}

}  // namespace
}  // namespace bitpool
