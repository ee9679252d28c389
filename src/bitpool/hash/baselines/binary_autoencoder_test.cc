#include "bitpool/hash/baselines/binary_autoencoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <limits>
#include <memory>
#include <stop_token>

#include "bitpool/base/random.h"
#include "bitpool/linalg/pca.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

// Clusters in a space of descending variance, away from zero.
MatrixF MakeData(Index dimension, Index count, uint64_t seed) {
  Random random(seed);
  const MatrixF mix = random.NormalMatrix(dimension, dimension);
  const MatrixF centres = random.NormalMatrix(dimension, 12);
  MatrixF data = 0.6F * random.NormalMatrix(dimension, count);
  for (Index i = 0; i < count; ++i)
    data.col(i) += centres.col(static_cast<Index>(random.Below(12)));
  for (Index i = 0; i < dimension; ++i) data.row(i) /= static_cast<float>(i + 1);
  data = mix * data;
  data.array() += 3;
  return data;
}

// Signs of a random rotation of the principal components.
BinaryCodes InitialCodes(const MatrixF& data, int bits, uint64_t seed = 1) {
  Moments moments(data.rows());
  moments.Add(data);
  const Pca pca = ComputePca(moments, std::min<Index>(bits, data.rows()));
  Random random(seed);
  return BinaryCodes::FromSigns(random.NormalMatrix(bits, pca.components()) * pca.Project(data));
}

Trained<HashModel> TrainBa(const BinaryAutoencoderOptions& options, const MatrixF& data,
                           int threads = 2) {
  const RunContext context({.threads = threads});
  return TrainBinaryAutoencoder(options, MatrixColumns(data), InitialCodes(data, options.bits),
                                context);
}

const LinearMap& EncoderMap(const HashModel& model) {
  return dynamic_cast<const LinearEncoder&>(*model.encoder).map();
}

// Mean squared error of the best linear decoder of codes, by Eigen's QR.
double BestError(const MatrixF& data, const BinaryCodes& codes, MatrixD* decoder = nullptr) {
  MatrixD inputs(codes.bits() + 1, codes.size());
  inputs << SignsOf(codes, 0, codes.size()).cast<double>(), Eigen::RowVectorXd::Ones(codes.size());
  const MatrixD targets = data.cast<double>();
  const MatrixD solution =
      inputs.transpose().colPivHouseholderQr().solve(targets.transpose()).transpose();
  if (decoder != nullptr) *decoder = solution;
  return (targets - solution * inputs).squaredNorm() / static_cast<double>(data.cols());
}

TEST(BinaryAutoencoder, ReconstructsBetterThanWhatItBeganWith) {
  const MatrixF data = MakeData(24, 1500, 1);
  for (const int bits : {6, 16}) {  // tries all codes; improves them bit by bit
    const auto [model, summary] = TrainBa({.bits = bits}, data);
    EXPECT_EQ(model.method, "ba");
    EXPECT_EQ(model.bits(), bits);
    EXPECT_EQ(model.dimension(), 24);
    EXPECT_EQ(summary.samples, 1500);
    EXPECT_FALSE(summary.interrupted);
    EXPECT_FALSE(summary.iterations.empty());
    const RunContext context;
    EXPECT_LT(ReconstructionError(model, MatrixColumns(data), context),
              0.9 * BestError(data, InitialCodes(data, bits)));
  }
}

TEST(BinaryAutoencoder, DecoderIsTheBestForTheCodesOfTheEncoder) {
  const MatrixF data = MakeData(10, 700, 2);
  const HashModel model = TrainBa({.bits = 7}, data).model;
  const BinaryCodes codes = model.encoder->Encode(data);
  MatrixD expected;
  BestError(data, codes, &expected);
  EXPECT_LT((model.decoder.weights.cast<double>() - expected.leftCols(7)).norm(),
            1e-3 * expected.leftCols(7).norm());
  EXPECT_LT((model.decoder.bias.cast<double>() - expected.col(7)).norm(),
            1e-3 * expected.col(7).norm());
}

TEST(BinaryAutoencoder, RecordsItsObjectiveInTheUnitsOfTheData) {
  const MatrixF data = MakeData(10, 600, 3);
  const auto first = TrainBa({.bits = 12, .penalties = {0}, .validation_queries = 0}, data).summary;
  ASSERT_EQ(first.iterations.size(), 1U);
  const TrainingIteration& iteration = first.iterations[0];
  EXPECT_EQ(iteration.objective, iteration.reconstruction);
  EXPECT_LT(iteration.reconstruction, BestError(data, InitialCodes(data, 12)));
  EXPECT_GT(iteration.reconstruction, 0.2 * BestError(data, InitialCodes(data, 12)));
  EXPECT_GT(iteration.flipped, 0);
  EXPECT_GT(iteration.quantisation, 0);

  const auto range =
      static_cast<double>((data.rowwise().maxCoeff() - data.rowwise().minCoeff()).maxCoeff());
  const auto other = TrainBa({.bits = 12, .penalties = {0.01}, .validation_queries = 0}, data)
                         .summary.iterations[0];
  EXPECT_NEAR((other.objective - other.reconstruction) / (range * range),
              0.01 * other.quantisation / 4, 1e-9);
}

TEST(BinaryAutoencoder, EndsWhenTheCodesAreThoseOfTheEncoder) {
  const MatrixF data = MakeData(8, 400, 4);
  const auto [model, summary] = TrainBa({.bits = 5, .penalties = {0.001, 1e4, 1e5}}, data);
  EXPECT_TRUE(summary.converged);
  EXPECT_EQ(summary.iterations.size(), 2U);
  EXPECT_EQ(summary.iterations.back().quantisation, 0);
  // What is recorded before the last fit of the decoder is not better than the model.
  const RunContext context;
  EXPECT_LE(ReconstructionError(model, MatrixColumns(data), context),
            1.001 * summary.iterations.back().reconstruction);
}

TEST(BinaryAutoencoder, AtAnyNumberOfThreads) {
  const MatrixF data = MakeData(16, 2500, 6);
  const BinaryAutoencoderOptions options{.bits = 12, .penalties = {0, 0.001, 0.01}};
  const HashModel one = TrainBa(options, data, 1).model;
  const HashModel four = TrainBa(options, data, 4).model;
  EXPECT_TRUE(SameBits(EncoderMap(one).weights, EncoderMap(four).weights));
  EXPECT_TRUE(SameBits(EncoderMap(one).bias, EncoderMap(four).bias));
  EXPECT_TRUE(SameBits(one.decoder.weights, four.decoder.weights));
}

TEST(BinaryAutoencoder, TheScaleOfTheDataMakesNoDifference) {
  const MatrixF data = MakeData(12, 900, 7);
  const BinaryCodes codes = TrainBa({.bits = 12}, data).model.encoder->Encode(data);
  const auto share_changed = [&](float factor) {
    const MatrixF scaled = factor * data;
    const RunContext context;
    const HashModel model =
        TrainBinaryAutoencoder({.bits = 12}, MatrixColumns(scaled), InitialCodes(data, 12), context)
            .model;
    const BinaryCodes scaled_codes = model.encoder->Encode(scaled);
    Index changed = 0;
    for (Index i = 0; i < 900; ++i) changed += HammingDistance(codes.code(i), scaled_codes.code(i));
    return static_cast<double>(changed) / (900.0 * 12);
  };
  EXPECT_EQ(share_changed(1024), 0);  // rounds alike
  EXPECT_LT(share_changed(1000), 0.01);
  EXPECT_LT(share_changed(1e-3F), 0.01);
}

TEST(BinaryAutoencoder, CanTrainTheEncoderOnSomeSamples) {
  const MatrixF data = MakeData(10, 1200, 8);
  const BinaryAutoencoderOptions some{.bits = 8, .svm_samples = 300};
  const HashModel model = TrainBa(some, data).model;
  EXPECT_TRUE(
      SameBits(EncoderMap(model).weights, EncoderMap(TrainBa(some, data, 1).model).weights));
  EXPECT_FALSE(
      SameBits(EncoderMap(model).weights, EncoderMap(TrainBa({.bits = 8}, data).model).weights));
  const RunContext context;
  EXPECT_LT(ReconstructionError(model, MatrixColumns(data), context),
            BestError(data, InitialCodes(data, 8)));
  EXPECT_TRUE(SameBits(EncoderMap(TrainBa({.bits = 8, .svm_samples = 5000}, data).model).weights,
                       EncoderMap(TrainBa({.bits = 8}, data).model).weights));
}

TEST(BinaryAutoencoder, TakesBackWhatDoesNotHelpTheNeighbours) {
  const MatrixF data = MakeData(10, 1000, 9);
  const BinaryAutoencoderOptions always{
      .bits = 10, .penalties = std::vector<double>(10, 0.0), .validation_queries = 0};
  BinaryAutoencoderOptions checked = always;
  checked.validation_queries = 200;
  checked.validation_share = 0.02;
  EXPECT_EQ(TrainBa(always, data).summary.iterations.size(), 10U);
  const size_t accepted = TrainBa(checked, data).summary.iterations.size();
  ASSERT_LT(accepted, 10U);

  // The iteration after it goes on from the last accepted encoder and the codes it was fitted to,
  // as the last accepted iteration would have with the larger penalty.
  checked.penalties.push_back(1e4);
  BinaryAutoencoderOptions direct = always;
  direct.penalties = std::vector<double>(accepted - 1, 0.0);
  direct.penalties.push_back(1e4);
  const auto [model, summary] = TrainBa(checked, data);
  const auto expected = TrainBa(direct, data);
  ASSERT_EQ(summary.iterations.size(), accepted + 1);
  EXPECT_EQ(summary.iterations.back().flipped, expected.summary.iterations.back().flipped);
  EXPECT_GT(summary.iterations.back().flipped, 0);
  EXPECT_TRUE(SameBits(EncoderMap(model).weights, EncoderMap(expected.model).weights));
}

TEST(BinaryAutoencoder, OddData) {
  const RunContext context({.threads = 2});
  const auto train = [&](const MatrixF& data, const BinaryCodes& codes) {
    return TrainBinaryAutoencoder({.bits = codes.bits()}, MatrixColumns(data), codes, context);
  };
  const MatrixF data = MakeData(6, 300, 10);

  const HashModel one = train(data, InitialCodes(data, 1)).model;  // one bit
  EXPECT_EQ(one.bits(), 1);

  MatrixF signs = SignsOf(InitialCodes(data, 4), 0, 300);
  signs.row(2).setConstant(-1);  // a constant bit
  EXPECT_EQ(train(data, BinaryCodes::FromSigns(signs)).model.bits(), 4);
  signs.setOnes();  // nothing but constant bits
  const HashModel constant = train(data, BinaryCodes::FromSigns(signs)).model;
  EXPECT_TRUE(constant.decoder.weights.allFinite());

  const MatrixF line = MakeData(1, 50, 11);  // more bits than dimensions
  EXPECT_EQ(train(line, InitialCodes(line, 3)).model.bits(), 3);
  const MatrixF few = MakeData(30, 5, 12);  // fewer samples than dimensions
  EXPECT_EQ(train(few, InitialCodes(few, 4)).model.dimension(), 30);

  const MatrixF same = MatrixF::Constant(6, 300, 2.0F);
  EXPECT_THAT(RefusalOf([&] { train(same, InitialCodes(data, 4)); }), HasSubstr("all alike"));
  const MatrixF empty(6, 0);
  EXPECT_THAT(RefusalOf([&] { train(empty, BinaryCodes(4)); }), HasSubstr("0 training samples"));
  MatrixF broken = data;
  broken(2, 17) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(RefusalOf([&] { train(broken, InitialCodes(data, 4)); }), HasSubstr("17"));
}

// Few different samples: some hash functions are solved exactly, others not yet.
TEST(BinaryAutoencoder, BinaryVectors) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const MatrixF data = (Random(seed).NormalMatrix(4, 100).array() > 0).cast<float>().matrix();
    const auto trained =
        TrainBinaryAutoencoder({.bits = 13}, MatrixColumns(data), InitialCodes(data, 13),
                               RunContext({.threads = 2, .seed = seed}));
    EXPECT_TRUE(EncoderMap(trained.model).weights.allFinite()) << "seed " << seed;
  }
}

TEST(BinaryAutoencoder, RefusesWhatDoesNotFit) {
  const MatrixF data = MakeData(6, 300, 13);
  const RunContext context({.threads = 1});
  const auto refusal = [&](const BinaryAutoencoderOptions& options, const BinaryCodes& codes) {
    return RefusalOf([&] { TrainBinaryAutoencoder(options, MatrixColumns(data), codes, context); });
  };
  const BinaryCodes codes = InitialCodes(data, 4);
  EXPECT_THAT(refusal({.bits = 5}, codes), HasSubstr("initial codes of 4 bits: expected 5"));
  EXPECT_THAT(refusal({.bits = 4}, BinaryCodes(4)), HasSubstr("0 initial codes for 300"));
  EXPECT_THAT(refusal({.bits = 0}, codes), HasSubstr("0 bits"));
  EXPECT_THAT(refusal({.bits = 4, .penalties = {}}, codes), HasSubstr("penalties"));
  EXPECT_THAT(refusal({.bits = 4, .penalties = {1, 0.5}}, codes), HasSubstr("penalties"));
  EXPECT_THAT(refusal({.bits = 4, .penalties = {-1, 0.5}}, codes), HasSubstr("penalties"));
  EXPECT_THAT(refusal({.bits = 4, .svm_cost = 0}, codes), HasSubstr("svm_cost"));
  EXPECT_THAT(refusal({.bits = 4, .svm_tolerance = -1}, codes), HasSubstr("svm_tolerance"));
  EXPECT_THAT(refusal({.bits = 4, .svm_samples = 1}, codes), HasSubstr("svm_samples"));
  EXPECT_THAT(refusal({.bits = 4, .enumerate_bits = 17}, codes), HasSubstr("enumerate_bits"));
  EXPECT_THAT(refusal({.bits = 4, .validation_queries = -1}, codes),
              HasSubstr("validation_queries"));
  EXPECT_THAT(refusal({.bits = 4, .validation_share = 0}, codes), HasSubstr("validation_share"));
  try {
    TrainBinaryAutoencoder({.bits = 4, .max_bytes = 1000}, MatrixColumns(data), codes, context);
    FAIL() << "trained with too little memory";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kResources);
    EXPECT_THAT(error.what(), HasSubstr("train on a random sample"));
  }
}

// Asks for a stop once this many iterations are done.
class StopAfter : public ProgressSink {
 public:
  StopAfter(std::stop_source stop, uint64_t iterations)
      : stop_(std::move(stop)), iterations_(iterations) {}
  void Report(const ProgressUpdate& update) override {
    if (update.unit == "iterations" && update.done >= iterations_) stop_.request_stop();
  }

 private:
  std::stop_source stop_;
  uint64_t iterations_;
};

TEST(BinaryAutoencoder, InterruptedAfterAnIterationItGivesThatModel) {
  const MatrixF data = MakeData(10, 500, 14);
  const BinaryCodes codes = InitialCodes(data, 6);
  const auto train = [&](uint64_t iterations) {
    std::stop_source stop;
    const RunContext context({.threads = 2,
                              .stop = stop.get_token(),
                              .progress = std::make_shared<StopAfter>(stop, iterations)});
    return TrainBinaryAutoencoder({.bits = 6, .validation_queries = 0}, MatrixColumns(data), codes,
                                  context);
  };
  const auto [model, summary] = train(2);
  EXPECT_TRUE(summary.interrupted);
  EXPECT_EQ(summary.iterations.size(), 2U);
  const HashModel expected =
      TrainBa({.bits = 6, .penalties = {0, 0}, .validation_queries = 0}, data).model;
  EXPECT_TRUE(SameBits(EncoderMap(model).weights, EncoderMap(expected).weights));
  EXPECT_TRUE(SameBits(model.decoder.weights, expected.decoder.weights));
  try {
    train(0);
    FAIL() << "trained although it was stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

}  // namespace
}  // namespace bitpool
