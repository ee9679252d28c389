#include "bitpool/hash/rba.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/hash/testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

RbaOptions RbaOfBits(int bits) {
  RbaOptions options;
  options.bits = bits;
  return options;
}

const LinearMap& RbaEncoderOf(const Trained<HashModel>& trained) {
  return dynamic_cast<const LinearEncoder&>(*trained.model.encoder).map();
}

double ShareOfEqualBits(const BinaryCodes& a, const BinaryCodes& b) {
  return 1 - static_cast<double>(HammingDistance(a.rows(), b.rows())) /
                 static_cast<double>(a.size() * a.bits());
}

// The worked example of docs/rba.md.
TEST(Rba, WorkedExample) {
  MatrixF x(1, 4);
  x << -3, -1, 1, 3;
  const MatrixColumns source(x);
  RbaOptions options = RbaOptions::Paper(1);
  options.lambda = 1;
  options.beta = 4;
  MatrixF start(1, 4);
  start << -1, 1, -1, 1;
  RelaxedAutoencoder autoencoder(WeightsFor(options, options.bits, 5, 4), source,
                                 ComputeMoments(source, RunContext()), nullptr,
                                 BinaryCodes::FromSigns(start), RunContext());
  EXPECT_NEAR(autoencoder.Encoder().weights(0, 0), 1.0 / 6, 1e-6);
  EXPECT_NEAR(autoencoder.Decoder().weights(0, 0), 1.0 / 2, 1e-6);
  TrainingIteration record = autoencoder.Iterate(RunContext());
  EXPECT_NEAR(record.flipped, 0.5, 1e-12);
  EXPECT_NEAR(record.reconstruction, 3.25, 1e-6);
  EXPECT_NEAR(record.quantisation, 17.0 / 36, 1e-6);
  EXPECT_NEAR(record.objective, 4, 1e-6);
  EXPECT_NEAR(autoencoder.Encoder().weights(0, 0), 1.0 / 3, 1e-6);
  EXPECT_NEAR(autoencoder.Decoder().weights(0, 0), 1, 1e-6);
  record = autoencoder.Iterate(RunContext());
  EXPECT_EQ(record.flipped, 0);
  EXPECT_NEAR(record.objective, 10.0 / 3, 1e-6);
}

TEST(Rba, ReconstructsBetterThanItsStart) {
  const MatrixF x = ClusteredSamples(16, 3000, 1);
  ItqOptions itq;
  itq.bits = 8;
  const auto start = TrainItq(itq, MatrixColumns(x), RunContext());
  const auto rba = TrainRba(RbaOfBits(8), MatrixColumns(x), RunContext());
  EXPECT_EQ(rba.model.method, "rba");
  EXPECT_LT(ReconstructionError(rba.model, MatrixColumns(x), RunContext()),
            ReconstructionError(start.model, MatrixColumns(x), RunContext()));
  for (size_t i = 1; i < rba.summary.iterations.size(); ++i) {
    EXPECT_LE(rba.summary.iterations[i].objective,
              rba.summary.iterations[i - 1].objective * (1 + 1e-6));
  }
}

TEST(Rba, DefaultsDoNotDependOnTheScaleOfTheDataOrTheNumberOfSamples) {
  const MatrixF x = ClusteredSamples(12, 2000, 2);
  const auto plain = TrainRba(RbaOfBits(10), MatrixColumns(x), RunContext());
  const BinaryCodes codes = plain.model.encoder->Encode(x);
  // Powers of two, which scale without rounding.
  for (const float scale : {0x1p-10F, 0x1p10F}) {
    const MatrixF scaled = scale * x;
    const auto trained = TrainRba(RbaOfBits(10), MatrixColumns(scaled), RunContext());
    EXPECT_GT(ShareOfEqualBits(codes, trained.model.encoder->Encode(scaled)), 0.999) << scale;
  }
  // The same samples three times over weigh the same as once.
  const AutoencoderWeights once = WeightsFor(RbaOfBits(10), 10, 7, 2000);
  const AutoencoderWeights thrice = WeightsFor(RbaOfBits(10), 10, 7, 6000);
  EXPECT_EQ(once.encoder_ridge, thrice.encoder_ridge);
  EXPECT_EQ(once.quantisation, thrice.quantisation);
  // This is not so for the paper's constants.
  EXPECT_NE(WeightsFor(RbaConstants::Paper(), 10, 7, 2000).encoder_ridge,
            WeightsFor(RbaConstants::Paper(), 10, 7, 6000).encoder_ridge);
}

TEST(Rba, SameModelAtAnyNumberOfThreadsAndFromAStream) {
  const MatrixF x = ClusteredSamples(20, 2500, 3);
  const auto one = TrainRba(RbaOfBits(12), MatrixColumns(x), RunContext({.threads = 1}));
  const auto four = TrainRba(RbaOfBits(12), CopiedColumns(x), RunContext({.threads = 4}));
  EXPECT_TRUE(SameBits(RbaEncoderOf(one).weights, RbaEncoderOf(four).weights));
  EXPECT_TRUE(SameBits(RbaEncoderOf(one).bias, RbaEncoderOf(four).bias));
  EXPECT_TRUE(SameBits(one.model.decoder.weights, four.model.decoder.weights));
}

TEST(Rba, StopsWhenBitsStopFlipping) {
  const MatrixF x = ClusteredSamples(8, 500, 4);
  RbaOptions options = RbaOfBits(4);
  options.iterations = 1000;
  options.min_flipped = 0;
  const auto trained = TrainRba(options, MatrixColumns(x), RunContext());
  EXPECT_TRUE(trained.summary.converged);
  EXPECT_LT(trained.summary.iterations.size(), 1000U);
  EXPECT_EQ(trained.summary.iterations.back().flipped, 0);
}

TEST(Rba, InterruptedLeavesAUsableModel) {
  const MatrixF x = ClusteredSamples(8, 3000, 4);
  RbaOptions options = RbaOfBits(6);
  options.min_flipped = 0;
  const auto trained = TrainRba(options, MatrixColumns(x), StoppedContext("RBA", 2));
  EXPECT_TRUE(trained.summary.interrupted);
  EXPECT_EQ(trained.summary.iterations.size(), 2U);
  options.iterations = 2;
  const auto two = TrainRba(options, MatrixColumns(x), RunContext());
  EXPECT_TRUE(SameBits(RbaEncoderOf(trained).weights, RbaEncoderOf(two).weights));
  EXPECT_THROW(TrainRba(options, MatrixColumns(x), StoppedContext("ITQ", 1)), Error);
}

TEST(Rba, EdgesOfTheData) {
  const RunContext context;
  const MatrixF few = ClusteredSamples(20, 5, 5);
  EXPECT_EQ(TrainRba(RbaOfBits(8), MatrixColumns(few), context).model.bits(), 8);
  const MatrixF line = ClusteredSamples(1, 100, 6);
  EXPECT_EQ(TrainRba(RbaOfBits(1), MatrixColumns(line), context).model.bits(), 1);
  const MatrixF narrow = ClusteredSamples(3, 400, 6);  // more bits than dimensions
  const auto wide = TrainRba(RbaOfBits(12), MatrixColumns(narrow), context);
  EXPECT_LT(ReconstructionError(wide.model, MatrixColumns(narrow), context),
            ReconstructionError(TrainRba(RbaOfBits(3), MatrixColumns(narrow), context).model,
                                MatrixColumns(narrow), context));
  const MatrixF constant = MatrixF::Constant(3, 10, 2);
  EXPECT_THAT(RefusalOf([&] { TrainRba(RbaOfBits(2), MatrixColumns(constant), context); }),
              ::testing::HasSubstr("all alike"));
  const MatrixF none(3, 0);
  EXPECT_THAT(RefusalOf([&] { TrainRba(RbaOfBits(2), MatrixColumns(none), context); }),
              ::testing::HasSubstr("0 training samples"));
  MatrixF bad = few;
  bad(3, 2) = std::nanf("");
  EXPECT_THAT(RefusalOf([&] { TrainRba(RbaOfBits(2), MatrixColumns(bad), context); }),
              ::testing::HasSubstr("column 2"));
  RbaOptions options = RbaOfBits(2);
  options.lambda = 0;
  EXPECT_THAT(RefusalOf([&] { TrainRba(options, MatrixColumns(few), context); }),
              ::testing::HasSubstr("lambda of RBA: expected a positive number, got 0"));
}

}  // namespace
}  // namespace bitpool
