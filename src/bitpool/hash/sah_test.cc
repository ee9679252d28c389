#include "bitpool/hash/sah.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>

#include "bitpool/base/random.h"
#include "bitpool/hash/feature_set_testing.h"
#include "bitpool/hash/sah_testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

// Φ⁰ as the trainer makes it.
MatrixF GmpVectors(const RecordStore& records, const SahOptions& options) {
  return PoolRecords(
      records,
      {Coupling::None(records.dimension()), {.mu = options.mu, .tolerance = options.tolerance}},
      RunContext());
}

// Images of small whole numbers whose records are exact: all numbers of V, or of VVᵀ, are whole
// multiples of 1/1024 of the largest one, which is that of the first row.
MemoryFeatureSet WholeImages(Index count, float unit, uint64_t seed) {
  Random random(seed);
  MemoryFeatureSet images(kSahDimension);
  for (Index i = 0; i < count; ++i) {
    const Index descriptors = i % 3 == 0 ? 64 : 8;
    const VectorF centre = random.NormalMatrix(kSahDimension, 1);
    MatrixF v = random.NormalMatrix(kSahDimension, descriptors);
    v.colwise() += centre;
    v = v.array().round().cwiseMax(0.0F).cwiseMin(3.0F);
    for (Index k = 0; k < descriptors; ++k) v(0, k) = k % 4 == 0 ? 8 : 0;
    images.Add("image " + std::to_string(i), unit * v);
  }
  return images;
}

MatrixD Signs(const BinaryCodes& codes) { return SignsOf(codes, 0, codes.size()).cast<double>(); }
MatrixD SignsOfValues(const MatrixD& values) {
  return (values.array() >= 0).select(MatrixD::Ones(values.rows(), values.cols()), -1.0);
}

double ShareOfDifferent(const MatrixD& signs, const MatrixD& others) {
  return (signs - others).cwiseAbs().sum() / 2 / static_cast<double>(signs.size());
}

double RelativeDistance(const MatrixD& a, const MatrixD& b) { return (a - b).norm() / b.norm(); }

// The codes SAH begins with.
BinaryCodes InitialCodes(const SahOptions& options, const MatrixF& vectors) {
  const ItqOptions itq{.bits = options.bits};
  const MatrixColumns source(vectors);
  TrainingSummary unused;
  return EncodeAll(LinearEncoder(FindItqEncoder(itq, source, ComputeMoments(source, RunContext()),
                                                RunContext(), unused)),
                   source, RunContext());
}

struct Map {
  MatrixD w;
  VectorD c;

  explicit Map(const LinearMap& map) : w(map.weights.cast<double>()), c(map.bias.cast<double>()) {}
  // min ‖t − wx − c1ᵀ‖² + ridge‖w‖²
  Map(const MatrixD& x, const MatrixD& t, double ridge) {
    const MatrixD centred = x.colwise() - x.rowwise().mean();
    MatrixD matrix = centred * centred.transpose();
    matrix.diagonal().array() += ridge;
    w = matrix.ldlt().solve(centred * t.transpose()).transpose();
    c = (t - w * x).rowwise().mean();
  }
  MatrixD operator()(const MatrixD& x) const { return (w * x).colwise() + c; }
};

// ‖Vᵀφ − 1‖² + μ‖φ‖²
double Aggregation(const MatrixD& v, const VectorD& phi, double mu) {
  return ((v.transpose() * phi).array() - 1).square().sum() + mu * phi.squaredNorm();
}

// alg2, slowly and in double precision. The data are multiplied by s, as the scale of the constants
// says, where TrainSah multiplies the constants. For the literal scale there are sums over the
// images, as in the paper, which are divided by m at the end; for the other scale there are means.
class SlowSah {
 public:
  SlowSah(const SahOptions& options, const FeatureSet& features, const BinaryCodes& initial)
      : options_(options), b_(Signs(initial)), phi_(features.dimension(), features.size()) {
    for (Index i = 0; i < features.size(); ++i) {
      images_.push_back(DescriptorsOf(features, i).cast<double>());
      const MatrixD& v = images_.back();
      MatrixD matrix = v * v.transpose();
      matrix.diagonal().array() += options.mu;
      phi_.col(i) = matrix.ldlt().solve(v.rowwise().sum());  // eq:gmp-solution
    }
  }

  TrainingIteration Iterate() {
    const bool literal = options_.rba.scale == ConstantScale::kLiteral;
    const auto images = static_cast<double>(phi_.cols());
    const double variance = (phi_.colwise() - phi_.rowwise().mean()).squaredNorm() / images;
    const double s = literal ? 1 : std::sqrt(options_.bits / variance);
    const double beta = literal ? options_.rba.beta : images * options_.rba.beta;
    TrainingIteration record;
    const MatrixD x = s * phi_;
    for (int i = 0; i < options_.rba.iterations; ++i) {
      record = LearnCodes(x, beta);
      if (record.flipped <= options_.rba.min_flipped) break;
    }
    const Map encoder(x, b_, beta / options_.rba.lambda);
    const Map decoder(b_, x, beta);
    const MatrixD before = SignsOfValues(encoder(x));
    for (Index i = 0; i < phi_.cols(); ++i) {
      const MatrixD& v = images_[static_cast<size_t>(i)];
      phi_.col(i) = Pool(encoder, decoder, s, v);
      record.aggregation += Aggregation(v, phi_.col(i), options_.mu);
    }
    record.objective += options_.gamma * record.aggregation;
    record.objective /= images;
    record.reconstruction /= images;
    record.quantisation /= images;
    record.aggregation /= images;
    record.flipped = ShareOfDifferent(before, SignsOfValues(encoder(s * phi_)));
    return record;
  }

  const MatrixD& vectors() const { return phi_; }
  const MatrixD& codes() const { return b_; }

 private:
  // A turn of alg1's loop; the terms of eq:obj_2 × 2.
  TrainingIteration LearnCodes(const MatrixD& x, double beta) {
    const double lambda = options_.rba.lambda;
    const Map encoder(x, b_, beta / lambda);
    const Map decoder(b_, x, beta);
    const MatrixD h = encoder(x);
    const MatrixD q = decoder.w.transpose() * (x.colwise() - decoder.c) + lambda * h;
    const MatrixD before = b_;
    for (Index k = 0; k < b_.rows(); ++k) {  // eq:bk
      MatrixD others = b_;
      others.row(k).setZero();
      b_.row(k) = SignsOfValues(q.row(k) - decoder.w.col(k).transpose() * decoder.w * others);
    }
    TrainingIteration record;
    record.reconstruction = (x - decoder(b_)).squaredNorm();
    record.quantisation = (b_ - h).squaredNorm();
    record.objective = record.reconstruction + lambda * record.quantisation +
                       beta * (encoder.w.squaredNorm() + decoder.w.squaredNorm());
    record.flipped = ShareOfDifferent(before, b_);
    return record;
  }

  // eq:sol_pool of the φ for which sφ is encoded and decoded.
  VectorD Pool(const Map& encoder, const Map& decoder, double s, const MatrixD& v) const {
    const MatrixD m = MatrixD::Identity(v.rows(), v.rows()) - decoder.w * encoder.w;
    MatrixD matrix = s * s * m.transpose() * m + options_.gamma * v * v.transpose();
    matrix.diagonal().array() += options_.gamma * options_.mu;
    const VectorD rhs = options_.gamma * v.rowwise().sum() +
                        s * m.transpose() * (decoder.w * encoder.c + decoder.c);
    return matrix.ldlt().solve(rhs);
  }

  SahOptions options_;
  std::vector<MatrixD> images_;
  MatrixD b_;
  MatrixD phi_;
};

void ExpectAsTheSlowReference(const SahOptions& options, const MemoryFeatureSet& images) {
  const MemoryRecords records = RecordsOf(images, false);
  const MatrixF gmp = GmpVectors(records, options);
  SlowSah reference(options, images, InitialCodes(options, gmp));
  EXPECT_LT(RelativeDistance(gmp.cast<double>(), reference.vectors()), 1e-5);
  const std::vector<JointState> states = StatesOf(options, records);
  EXPECT_EQ(states.size(), static_cast<size_t>(options.iterations));
  for (const JointState& state : states) {
    const TrainingIteration expected = reference.Iterate();
    const TrainingIteration& found = state.iterations.back();
    EXPECT_LT(ShareOfDifferent(Signs(state.codes), reference.codes()), 0.002);
    EXPECT_LT(RelativeDistance(state.vectors.cast<double>(), reference.vectors()), 1e-3);
    EXPECT_NEAR(found.objective, expected.objective, 1e-3 * expected.objective);
    EXPECT_NEAR(found.reconstruction, expected.reconstruction, 1e-3 * expected.reconstruction);
    EXPECT_NEAR(found.quantisation, expected.quantisation, 1e-3 * expected.quantisation);
    EXPECT_NEAR(found.aggregation, expected.aggregation, 1e-3 * expected.aggregation);
    EXPECT_NEAR(found.flipped, expected.flipped, 0.004);
  }
  // The case is one in which something happens.
  EXPECT_GT(states.front().iterations.front().flipped, 0.01);
  EXPECT_GT(RelativeDistance(states.back().vectors.cast<double>(), gmp.cast<double>()), 0.05);
}

TEST(Sah, FollowsTheAlgorithmInUnitsOfVariancePerBit) {
  SahOptions options = SahOptionsFor(8);
  options.tolerance = 1e-7;
  for (const double gamma : {1.0, 5.0}) {
    options.gamma = gamma;
    ExpectAsTheSlowReference(options, WholeImages(120, 1, 1));
  }
}

TEST(Sah, FollowsTheAlgorithmInThePapersSums) {
  SahOptions options = SahOptions::Paper(8);
  EXPECT_EQ(options.bits, 8);
  EXPECT_EQ(options.rba.lambda, 0.01);
  EXPECT_EQ(options.rba.beta, 0.1);
  EXPECT_EQ(options.gamma, 10);
  EXPECT_EQ(options.mu, 100);
  EXPECT_EQ(options.rba.scale, ConstantScale::kLiteral);
  // Images that are small enough for the paper's constants to make a difference.
  options.tolerance = 1e-7;
  options.min_flipped = 0;
  options.mu = 0.01;
  options.gamma = 0.3;
  ExpectAsTheSlowReference(options, WholeImages(120, 0x1p-7F, 2));
}

// The objective of the maps and codes of eq:obj_2, per image, in the scale of the constants.
double HashingObjective(const SahOptions& options, const MatrixD& phi, const Map& encoder,
                        const Map& decoder, const MatrixD& b) {
  const auto images = static_cast<double>(phi.cols());
  const double variance = (phi.colwise() - phi.rowwise().mean()).squaredNorm() / images;
  const double unit = options.bits / variance;
  return unit * (phi - decoder(b)).squaredNorm() / images +
         options.rba.lambda * (b - encoder(phi)).squaredNorm() / images +
         options.rba.beta * (encoder.w.squaredNorm() / unit + unit * decoder.w.squaredNorm());
}

TEST(Sah, EveryStepLowersItsOwnObjective) {
  const MemoryFeatureSet images = WholeImages(150, 1, 3);
  const MemoryRecords records = RecordsOf(images, false);
  SahOptions options = SahOptionsFor(10);
  options.gamma = 0.5;
  options.tolerance = 1e-6;
  options.rba.min_flipped = 0;
  MatrixF vectors = GmpVectors(records, options);
  MatrixD codes = Signs(InitialCodes(options, vectors));
  for (const JointState& state : StatesOf(options, records)) {
    const MatrixD phi = vectors.cast<double>();
    const MatrixD now = state.vectors.cast<double>();
    const Map encoder(state.encoder), decoder(state.decoder);
    // (W, c)- and B-steps, against the best maps of the codes they began with.
    const double variance = (phi.colwise() - phi.rowwise().mean()).squaredNorm() / 150;
    const double ridge = 150 * options.rba.beta;
    const Map first_encoder(phi, codes, ridge / options.rba.lambda * variance / options.bits);
    const Map first_decoder(codes, phi, ridge);
    EXPECT_LT(HashingObjective(options, phi, encoder, decoder, Signs(state.codes)),
              HashingObjective(options, phi, first_encoder, first_decoder, codes) * (1 + 1e-6));
    // And they are the best maps of the codes they end with.
    const Map best(phi, Signs(state.codes), ridge / options.rba.lambda * variance / options.bits);
    EXPECT_LT(RelativeDistance(encoder.w, best.w), 1e-4);
    // Φ-step, eq:obj_pool of every image.
    double before = 0, after = 0;
    for (Index i = 0; i < records.size(); ++i) {
      const MatrixD v = DescriptorsOf(images, i).cast<double>();
      const auto cost = [&](const VectorD& x) {
        return (x - decoder(encoder(x))).squaredNorm() +
               state.gamma * Aggregation(v, x, options.mu);
      };
      EXPECT_LE(cost(now.col(i)), cost(phi.col(i)) * (1 + 1e-6)) << i;
      before += cost(phi.col(i));
      after += cost(now.col(i));
    }
    EXPECT_LT(after, before);
    vectors = state.vectors;
    codes = Signs(state.codes);
  }
}

TEST(Sah, MoreTurnsOfTheHashingLoopLowerItsObjective) {
  const MemoryRecords records = RecordsOf(WholeImages(150, 1, 4), false);
  SahOptions options = SahOptionsFor(10);
  options.iterations = 1;
  options.rba.min_flipped = 0;
  const MatrixD phi = GmpVectors(records, options).cast<double>();
  double before = 1e30;
  for (int turns = 1; turns <= 5; ++turns) {
    options.rba.iterations = turns;
    const JointState state = StatesOf(options, records).front();
    const double objective =
        HashingObjective(options, phi, Map(state.encoder), Map(state.decoder), Signs(state.codes));
    EXPECT_LE(objective, before * (1 + 1e-6)) << turns;
    before = objective;
  }
}

// Pooled by the model, then encoded.
BinaryCodes CodesOf(const Trained<HashModel>& trained, const FeatureSet& features) {
  const PoolingRecipe& recipe = *trained.model.pooling;
  const PoolingSystem system(Coupling::Autoencoder(EncoderOf(trained), trained.model.decoder),
                             {.mu = recipe.mu, .gamma = recipe.gamma});
  MatrixF vectors(features.dimension(), features.size());
  for (Index i = 0; i < features.size(); ++i) {
    MatrixF descriptors = DescriptorsOf(features, i);
    if (recipe.normalise) descriptors.colwise().normalize();
    vectors.col(i) = system.Pool(descriptors);
  }
  return trained.model.encoder->Encode(vectors);
}

double ShareOfDifferent(const BinaryCodes& a, const BinaryCodes& b) {
  return ShareOfDifferent(Signs(a), Signs(b));
}

TEST(Sah, NormalisedImagesHaveNoScale) {
  const MemoryFeatureSet images = RectifiedImages(kSahDimension, 100, 100);
  const auto plain = TrainSah(SahOptionsFor(8), images, RunContext());
  EXPECT_EQ(plain.model.method, "sah");
  EXPECT_EQ(plain.summary.samples, 100);
  EXPECT_TRUE(plain.model.pooling->normalise);
  EXPECT_EQ(plain.model.pooling->mu, 10);
  const MemoryFeatureSet large = ScaledImages(images, 1024);  // which rounding does not notice
  EXPECT_TRUE(SameModel(plain, TrainSah(SahOptionsFor(8), large, RunContext())));
  const MemoryFeatureSet thousand = ScaledImages(images, 1000);
  EXPECT_LT(ShareOfDifferent(CodesOf(plain, images),
                             CodesOf(TrainSah(SahOptionsFor(8), thousand, RunContext()), thousand)),
            0.01);
}

// φ is divided by c where V is multiplied by c and μ by c²; nothing else is changed.
TEST(Sah, TheScaleOfTheImagesOnlyMattersToMu) {
  const MemoryFeatureSet images = RectifiedImages(kSahDimension, 100, 200);
  SahOptions options = SahOptionsFor(8);
  options.normalise = false;
  options.tolerance = 1e-6;
  const auto plain = TrainSah(options, images, RunContext());
  EXPECT_FALSE(plain.model.pooling->normalise);
  for (const float scale : {0.1F, 30.0F}) {
    const MemoryFeatureSet scaled = ScaledImages(images, scale);
    options.mu = 10.0 * scale * scale;
    const auto trained = TrainSah(options, scaled, RunContext());
    EXPECT_LT(ShareOfDifferent(CodesOf(plain, images), CodesOf(trained, scaled)), 0.01) << scale;
    const TrainingIteration& expected = plain.summary.iterations[0];
    const TrainingIteration& found = trained.summary.iterations[0];
    EXPECT_NEAR(found.objective / expected.objective, 1, 0.005);
    EXPECT_NEAR(found.reconstruction / expected.reconstruction, 1, 0.005);
    EXPECT_NEAR(found.quantisation / expected.quantisation, 1, 0.005);
    EXPECT_NEAR(found.aggregation / expected.aggregation, 1, 0.005);
  }
}

TEST(Sah, WithAHeavyAggregationIsRba) {
  const MemoryFeatureSet images = RectifiedImages(kSahDimension, 100, 300);
  const MemoryRecords records = RecordsOf(images, true);
  SahOptions options = SahOptionsFor(8);
  options.gamma = 1e9;
  options.tolerance = 1e-6;
  const MatrixF gmp = GmpVectors(records, options);
  RbaOptions same;
  same.bits = 8;
  static_cast<RbaConstants&>(same) = options.rba;
  const auto rba = TrainRba(same, MatrixColumns(gmp), RunContext());
  const auto sah = TrainSah(options, records, RunContext());
  EXPECT_TRUE(SameBits(EncoderOf(sah).weights, EncoderOf(rba).weights));
  EXPECT_TRUE(SameBits(EncoderOf(sah).bias, EncoderOf(rba).bias));
  EXPECT_EQ(ShareOfDifferent(CodesOf(sah, images), rba.model.encoder->Encode(gmp)), 0);
  // φ does not move, so that there is nothing more to do.
  EXPECT_EQ(sah.summary.iterations.size(), 1U);
  EXPECT_EQ(sah.summary.iterations[0].flipped, 0);
  EXPECT_TRUE(sah.summary.converged);
}

TEST(Sah, WithALightAggregationVectorsAreWhatTheAutoencoderKeeps) {
  const MemoryRecords records = RecordsOf(RectifiedImages(kSahDimension, 100, 400), true);
  SahOptions options = SahOptionsFor(8);
  options.gamma = 1e-6;
  options.iterations = 1;
  options.tolerance = 1e-6;
  const MatrixD gmp = GmpVectors(records, options).cast<double>();
  const JointState state = StatesOf(options, records).front();
  const Map encoder(state.encoder), decoder(state.decoder);
  const MatrixD m = MatrixD::Identity(kSahDimension, kSahDimension) - decoder.w * encoder.w;
  const VectorD fixed = m.lu().solve(decoder.w * encoder.c + decoder.c);  // x = W₂(W₁x + c₁) + c₂
  EXPECT_LT((decoder(encoder(fixed)) - fixed).norm(), 1e-6 * fixed.norm());
  const MatrixD phi = state.vectors.cast<double>();
  EXPECT_LT((decoder(encoder(phi)) - phi).norm(), 1e-3 * (decoder(encoder(gmp)) - gmp).norm());
  EXPECT_LT((phi.colwise() - fixed).norm(), 1e-2 * (gmp.colwise() - fixed).norm());
}

// Each iteration's vectors are easier to reconstruct, at a small price in aggregation.
TEST(Sah, ReconstructsItsVectorsBetterThanRba) {
  const MemoryFeatureSet images = RectifiedImages(kSahDimension, 200, 1100);
  const auto trained = TrainSah(SahOptionsFor(8), images, RunContext());
  const TrainingIteration& rba = trained.summary.iterations.front();
  const TrainingIteration& last = trained.summary.iterations.back();
  EXPECT_GT(trained.summary.iterations.size(), 1U);
  EXPECT_LT(last.reconstruction, 0.8 * rba.reconstruction);
  EXPECT_LT(last.aggregation, 1.02 * rba.aggregation);
}

TEST(SahOptions, RefusesWhatHasNoMeaning) {
  const auto refusal = [](auto change) {
    SahOptions options;
    change(options);
    return RefusalOf([&] { options.Validate(); });
  };
  EXPECT_EQ(refusal([](SahOptions& /*options*/) {}), "(no error)");
  EXPECT_THAT(refusal([](SahOptions& o) { o.bits = 0; }), ::testing::HasSubstr("bits"));
  EXPECT_THAT(refusal([](SahOptions& o) { o.iterations = 0; }),
              ::testing::HasSubstr("iterations of the joint training: expected 1 or more, got 0"));
  EXPECT_THAT(refusal([](SahOptions& o) { o.rba.lambda = 0; }), ::testing::HasSubstr("lambda"));
  EXPECT_THAT(refusal([](SahOptions& o) { o.rba.iterations = 0; }),
              ::testing::HasSubstr("iterations of RBA"));
  EXPECT_THAT(
      refusal([](SahOptions& o) { o.gamma = 0; }),
      ::testing::HasSubstr("gamma of the joint training: expected a positive number, got 0"));
  EXPECT_THAT(refusal([](SahOptions& o) { o.mu = -1; }),
              ::testing::HasSubstr("mu of the joint training"));
  EXPECT_THAT(refusal([](SahOptions& o) { o.mu = std::nan(""); }),
              ::testing::HasSubstr("mu of the joint training"));
  EXPECT_THAT(refusal([](SahOptions& o) { o.tolerance = 0; }),
              ::testing::HasSubstr("tolerance of the joint training"));
  EXPECT_THAT(refusal([](SahOptions& o) { o.tolerance = 1; }),
              ::testing::HasSubstr("tolerance of the joint training"));
  EXPECT_THAT(refusal([](SahOptions& o) { o.min_flipped = 1.5; }),
              ::testing::HasSubstr("share of flipped bits"));
  // Before anything is read.
  SahOptions options;
  options.gamma = -1;
  const MemoryFeatureSet good = RectifiedImages(kSahDimension, 3, 1);
  EXPECT_THAT(RefusalOf([&] { TrainSah(options, FaultyFeatures(good, {0}, {}), RunContext()); }),
              ::testing::HasSubstr("gamma of the joint training"));
}

}  // namespace
}  // namespace bitpool
