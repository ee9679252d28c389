#include "bitpool/hash/sash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <set>
#include <stop_token>

#include "bitpool/base/error.h"
#include "bitpool/hash/feature_set_testing.h"
#include "bitpool/hash/label_targets.h"
#include "bitpool/hash/mapped_encoder.h"
#include "bitpool/hash/testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

constexpr Index kSashDimension = 16;

// Images of `classes` classes in turn: descriptors around a few places that belong to the class.
MemoryFeatureSet ClassImages(Index count, int32_t classes, uint64_t seed) {
  Random random(1);  // the classes are the same for every seed
  const MatrixF places = random.NormalMatrix(kSashDimension, 3 * classes);
  random = Random(seed);
  MemoryFeatureSet images(kSashDimension);
  for (Index i = 0; i < count; ++i) {
    const Index descriptors = i % 3 == 0 ? 40 : 6;
    MatrixF v = 0.8F * random.NormalMatrix(kSashDimension, descriptors);
    for (Index k = 0; k < descriptors; ++k) v.col(k) += places.col(3 * (i % classes) + k % 3);
    images.Add("image " + std::to_string(i), v);
  }
  return images;
}

Labels ClassesInTurn(Index count, int32_t classes) {
  std::vector<int32_t> of;
  for (Index i = 0; i < count; ++i) of.push_back(static_cast<int32_t>(i) % classes);
  return Labels::Single(of);
}

SashOptions SashOfBits(int bits) {
  SashOptions options;
  options.joint.bits = bits;
  options.joint.mu = 1;
  options.joint.min_flipped = 0;
  return options;
}

const LinearMap& SashEncoderOf(const HashModel& model) {
  return dynamic_cast<const LinearEncoder&>(*model.encoder).map();
}

bool SameModel(const HashModel& a, const HashModel& b) {
  return SameBits(SashEncoderOf(a).weights, SashEncoderOf(b).weights) &&
         SameBits(SashEncoderOf(a).bias, SashEncoderOf(b).bias) &&
         SameBits(a.decoder.weights, b.decoder.weights);
}

// All states after an iteration, and the model.
struct Traced {
  std::vector<JointState> states;
  Trained<HashModel> trained;
};
Traced Trace(const SashOptions& options, const RecordStore& records, const Labels& labels) {
  Traced traced;
  traced.trained =
      TrainSash(options, records, labels, RunContext(),
                {.observer = [&](const JointState& state) { traced.states.push_back(state); }});
  return traced;
}

// The mean Hamming distance of images that share no class minus that of images that do, as a share
// of the bits.
double ModelSeparation(const HashModel& model, const MatrixF& vectors, const Labels& labels) {
  const BinaryCodes codes = model.encoder->Encode(vectors);
  double same = 0, other = 0, same_pairs = 0, other_pairs = 0;
  for (Index i = 0; i < codes.size(); ++i) {
    for (Index j = 0; j < i; ++j) {
      const auto distance = static_cast<double>(HammingDistance(codes.code(i), codes.code(j)));
      const bool alike = ShareClass(labels.of(i), labels.of(j));
      (alike ? same : other) += distance;
      (alike ? same_pairs : other_pairs) += 1;
    }
  }
  return (other / other_pairs - same / same_pairs) / codes.bits();
}

std::string WhatIsThrown(const auto& job) {
  try {
    job();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "nothing was thrown";
}

// eq:sol_pool_sup, solved directly and in double precision, for every image.
TEST(Sash, LearnsTheVectorsOfTheEquation) {
  const MemoryFeatureSet images = ClassImages(90, 4, 5);
  const Labels labels = ClassesInTurn(90, 4);
  MemoryRecords records(kSashDimension);
  ReduceImages(images, true, records, RunContext());
  SashOptions options = SashOfBits(8);
  options.joint.tolerance = 1e-6;
  const Traced traced = Trace(options, records, labels);
  ASSERT_FALSE(traced.states.empty());
  for (const JointState& state : traced.states) {
    const MatrixD w1 = state.encoder.weights.cast<double>(),
                  w2 = state.decoder.weights.cast<double>();
    const VectorD c1 = state.encoder.bias.cast<double>(), c2 = state.decoder.bias.cast<double>();
    const MatrixD m = w2 * w1;
    for (Index i = 0; i < 90; ++i) {
      MatrixD v = DescriptorsOf(images, i).cast<double>();
      v.colwise().normalize();
      VectorD y = VectorD::Zero(4);
      y[i % 4] = 1;
      const double gamma = options.joint.gamma;
      MatrixD matrix = m.transpose() * m + gamma * v * v.transpose();
      matrix.diagonal().array() += gamma * options.joint.mu;
      const VectorD expected =
          matrix.ldlt().solve(gamma * v.rowwise().sum() + m.transpose() * (y - (w2 * c1 + c2)));
      // Records keep half precision.
      EXPECT_LT((state.vectors.col(i).cast<double>() - expected).norm(), 5e-3 * expected.norm());
    }
  }
}

// eq:W1_sup to eq:c2_sup at the codes of the iteration, in the units of the data.
TEST(Sash, LearnsTheMapsOfTheEquations) {
  const MemoryFeatureSet images = ClassImages(90, 4, 6);
  MemoryRecords records(kSashDimension);
  ReduceImages(images, true, records, RunContext());
  SashOptions options = SashOfBits(6);
  options.joint.iterations = 1;
  options.joint.rba.lambda = 0.1;  // so that nothing is at the edge of single precision
  options.joint.rba.beta = 1e-3;
  const Traced traced = Trace(options, records, ClassesInTurn(90, 4));
  const JointState& state = traced.states.at(0);
  const MatrixD x = InitialVectors(options.joint, records, RunContext()).cast<double>();
  const MatrixD b = SignsOf(state.codes, 0, 90).cast<double>();
  MatrixD y = MatrixD::Zero(4, 90);
  for (Index i = 0; i < 90; ++i) y(i % 4, i) = 1;
  const auto ridge = [](const MatrixD& in, const MatrixD& out, double weight) {
    const MatrixD centred = in.colwise() - in.rowwise().mean();
    MatrixD gram = centred * centred.transpose() / static_cast<double>(in.cols());
    gram.diagonal().array() += weight;
    const MatrixD cross = out * centred.transpose() / static_cast<double>(in.cols());
    return MatrixD(gram.ldlt().solve(cross.transpose()).transpose());
  };
  const double variance = (x.colwise() - x.rowwise().mean()).squaredNorm() / 90;
  const RbaConstants& rba = options.joint.rba;
  const MatrixD w1 = ridge(x, b, rba.beta / rba.lambda * variance / 6);
  const MatrixD w2 = ridge(b, y, rba.beta);
  EXPECT_LT((state.encoder.weights.cast<double>() - w1).norm(), 1e-3 * w1.norm());
  EXPECT_LT((state.decoder.weights.cast<double>() - w2).norm(), 1e-3 * w2.norm());
  const VectorD c1 = (b - w1 * x).rowwise().mean(), c2 = (y - w2 * b).rowwise().mean();
  EXPECT_LT((state.encoder.bias.cast<double>() - c1).norm(), 1e-3 * c1.norm() + 1e-4);
  EXPECT_LT((state.decoder.bias.cast<double>() - c2).norm(), 1e-3 * c2.norm() + 1e-4);
}

// P is the best for its own objective: any step away from it is worse.
TEST(Sash, TheMappingIsTheRidgeRegression) {
  Random random(3);
  const MatrixF x = random.NormalMatrix(7, 40).array() + 2;
  const MatrixF t = random.NormalMatrix(7, 40).array() - 1;
  SashOptions options = SashOptions::Paper(4);
  const LinearMap literal = FindMapping(options, x, t, RunContext());
  EXPECT_EQ(literal.bias.norm(), 0);
  const auto cost = [&](const MatrixD& p) {
    return (t.cast<double>() - p * x.cast<double>()).squaredNorm() +
           options.alpha * p.squaredNorm();
  };
  const MatrixD p = literal.weights.cast<double>();
  for (Index i = 0; i < p.size(); ++i) {
    for (const double step : {-1e-2, 1e-2}) {
      MatrixD moved = p;
      moved(i) += step;
      EXPECT_LT(cost(p), cost(moved)) << i;
    }
  }

  options = SashOptions();
  options.alpha = 0.3;
  const LinearMap found = FindMapping(options, x, t, RunContext());
  const MatrixD centred = (x.colwise() - x.rowwise().mean()).cast<double>();
  MatrixD gram = centred * centred.transpose();
  gram.diagonal().array() += 0.3 * gram.trace() / 7;
  const MatrixD weights = gram.ldlt().solve(centred * t.cast<double>().transpose()).transpose();
  const VectorD bias = (t.cast<double>() - weights * x.cast<double>()).rowwise().mean();
  EXPECT_LT((found.weights.cast<double>() - weights).norm(), 1e-4 * weights.norm());
  EXPECT_LT((found.bias.cast<double>() - bias).norm(), 1e-4 * bias.norm());
}

TEST(Sash, TheModelMapsThenEncodes) {
  MemoryRecords records(kSashDimension);
  ReduceImages(ClassImages(60, 3, 2), true, records, RunContext());
  const SashOptions options = SashOfBits(8);
  const Traced traced = Trace(options, records, ClassesInTurn(60, 3));
  const JointState& last = traced.states.back();
  const MatrixF pooled = InitialVectors(options.joint, records, RunContext());
  const LinearMap mapping = FindMapping(options, pooled, last.vectors, RunContext());
  const MatrixF mapped = (mapping.weights * pooled).colwise() + mapping.bias;
  const MatrixF expected = (last.encoder.weights * mapped).colwise() + last.encoder.bias;
  const MatrixF found = traced.trained.model.encoder->Project(pooled);
  EXPECT_LT((found - expected).norm(), 1e-4F * expected.norm());
  EXPECT_EQ(traced.trained.model.method, "sash");
  EXPECT_EQ(traced.trained.model.pooling->gamma, 0);  // a new image has no label
  EXPECT_EQ(traced.trained.model.pooling->mu, options.joint.mu);
}

TEST(Sash, TellsTheClassesOfNewImagesApart) {
  const Labels labels = ClassesInTurn(300, 5), new_labels = ClassesInTurn(100, 5);
  const auto trained = TrainSash(SashOfBits(16), ClassImages(300, 5, 1), labels, RunContext());
  MemoryRecords records(kSashDimension);
  ReduceImages(ClassImages(100, 5, 2), true, records, RunContext());
  const MatrixF vectors = InitialVectors(SashOfBits(16).joint, records, RunContext());
  EXPECT_GT(ModelSeparation(trained.model, vectors, new_labels), 0.3);
}

// How far the codes of images of one class are from each other, as a share of the bits.
double SpreadWithinClasses(const BinaryCodes& codes, int32_t classes) {
  double distance = 0, pairs = 0;
  for (Index i = 0; i < codes.size(); ++i) {
    for (Index j = i - classes; j >= 0; j -= classes) {
      distance += static_cast<double>(HammingDistance(codes.code(i), codes.code(j)));
      pairs += 1;
    }
  }
  return distance / pairs / codes.bits();
}

// Of two classes the predicted labels have one direction, so all bits are one bit or its opposite:
// a start that the codes of ITQ do not have.
TEST(Sash, TheFirstCodesAreThoseOfPredictedLabels) {
  MemoryRecords records(kSashDimension);
  ReduceImages(ClassImages(120, 2, 4), true, records, RunContext());
  SashOptions options = SashOfBits(12);
  options.joint.iterations = 1;
  options.joint.rba.iterations = 1;
  options.joint.rba.lambda = 1e4;  // so that the one sweep over the bits keeps what is predictable
  options.joint.rba.beta = 1;
  const BinaryCodes from_labels = Trace(options, records, ClassesInTurn(120, 2)).states.at(0).codes;
  options.joint.codes_from_labels = false;
  const BinaryCodes from_vectors =
      Trace(options, records, ClassesInTurn(120, 2)).states.at(0).codes;
  const MatrixF bits = SignsOf(from_labels, 0, 120);
  for (Index bit = 1; bit < 12; ++bit) {
    EXPECT_GT(std::abs(bits.row(0).dot(bits.row(bit))), 110) << bit;
  }
  EXPECT_LT(SpreadWithinClasses(from_labels, 2), 0.5 * SpreadWithinClasses(from_vectors, 2));
}

TEST(Sash, TakesLabelsOfManyKinds) {
  const MemoryFeatureSet images = ClassImages(120, 6, 1);
  const auto train = [&](const Labels& labels) {
    return TrainSash(SashOfBits(8), images, labels, RunContext()).model;
  };
  std::vector<std::vector<int32_t>> several(120), sparse(120);
  for (size_t i = 0; i < 120; ++i) {
    several[i] = {static_cast<int32_t>(i % 6), static_cast<int32_t>((i + 1) % 6)};
    if (i % 4 != 0) sparse[i] = {static_cast<int32_t>(i % 6)};  // every fourth has none
  }
  EXPECT_EQ(train(Labels::Multi(several)).bits(), 8);
  EXPECT_EQ(train(Labels::Multi(sparse)).bits(), 8);
  std::vector<int32_t> alone(120, 0);
  alone[7] = 3;  // a class of one image, and numbers that no image has
  EXPECT_EQ(train(Labels::Single(alone)).bits(), 8);
  std::vector<int32_t> thousand;
  for (int32_t i = 0; i < 120; ++i) thousand.push_back(i * 8 % 1000);
  EXPECT_EQ(train(Labels::Single(thousand)).bits(), 8);
  EXPECT_THAT(WhatIsThrown([&] { train(ClassesInTurn(120, 1)); }), HasSubstr("two classes"));
  EXPECT_THAT(WhatIsThrown([&] { train(ClassesInTurn(119, 2)); }),
              HasSubstr("119 labels for 120 images"));
}

TEST(Sash, LeavesImagesWithoutDescriptorsOutWithTheirLabels) {
  const MemoryFeatureSet images = ClassImages(100, 4, 1);
  MemoryFeatureSet good(kSashDimension);
  std::vector<int32_t> classes, good_classes;
  const std::set<Index> empty = {0, 41, 99};
  for (Index i = 0; i < 100; ++i) {
    classes.push_back(static_cast<int32_t>(i) % 4);
    if (empty.contains(i)) continue;
    good.Add(images.name(i), DescriptorsOf(images, i));
    good_classes.push_back(static_cast<int32_t>(i) % 4);
  }
  const auto with = TrainSash(SashOfBits(6), FaultyFeatures(images, {}, empty),
                              Labels::Single(classes), RunContext());
  const auto without = TrainSash(SashOfBits(6), good, Labels::Single(good_classes), RunContext());
  EXPECT_TRUE(SameModel(with.model, without.model));
  EXPECT_EQ(with.summary.skipped, (std::vector<std::string>{"image 0", "image 41", "image 99"}));
}

TEST(Sash, IsTheSameAtAnyNumberOfThreadsAndAfterAResume) {
  MemoryRecords records(kSashDimension);
  ReduceImages(ClassImages(150, 4, 3), true, records, RunContext());
  const Labels labels = ClassesInTurn(150, 4);
  const Traced whole = Trace(SashOfBits(12), records, labels);
  ASSERT_GT(whole.states.size(), 1U);
  const auto two = TrainSash(SashOfBits(12), records, labels, RunContext({.threads = 2}));
  EXPECT_TRUE(SameModel(two.model, whole.trained.model));
  const auto resumed =
      TrainSash(SashOfBits(12), records, labels, RunContext(), {.resume = whole.states[0]});
  EXPECT_TRUE(SameModel(resumed.model, whole.trained.model));
}

// Descriptors around one of four corners of a square, in turn. Corners across from each other are
// of one class, so no linear function of an image's vector tells the classes apart.
MemoryFeatureSet CornerImages(Index count, uint64_t seed) {
  Random random(seed);
  MemoryFeatureSet images(kSashDimension);
  for (Index i = 0; i < count; ++i) {
    MatrixF v = 0.15F * random.NormalMatrix(kSashDimension, 12);
    v.row(0).array() += i / 2 % 2 == 0 ? 1.0F : -1.0F;
    v.row(1).array() += (i / 2 + i) % 2 == 0 ? 1.0F : -1.0F;
    v.row(2).array() += 2;  // all on one side of the origin
    images.Add("image " + std::to_string(i), v);
  }
  return images;
}

SashOptions KernelOptionsOf(int bits, int anchors) {
  SashOptions options = SashOfBits(bits);
  options.kernel.anchors = anchors;
  return options;
}

MatrixF PooledVectorsOf(const MemoryFeatureSet& images) {
  MemoryRecords records(kSashDimension);
  ReduceImages(images, true, records, RunContext());
  return InitialVectors(SashOfBits(8).joint, records, RunContext());
}

TEST(SashWithKernel, TellsClassesApartThatNoLineDoes) {
  const MemoryFeatureSet images = CornerImages(400, 1);
  const MatrixF fresh = PooledVectorsOf(CornerImages(120, 2));
  const Labels labels = ClassesInTurn(400, 2), fresh_labels = ClassesInTurn(120, 2);
  const HashModel linear = TrainSash(SashOfBits(8), images, labels, RunContext()).model;
  const HashModel kernel = TrainSash(KernelOptionsOf(8, 80), images, labels, RunContext()).model;
  EXPECT_LT(ModelSeparation(linear, fresh, fresh_labels), 0.2);
  EXPECT_GT(ModelSeparation(kernel, fresh, fresh_labels), 0.8);
  EXPECT_EQ(kernel.method, "sash");
  EXPECT_EQ(kernel.pooling->gamma, 0);
  EXPECT_EQ(kernel.pooling->mu, SashOfBits(8).joint.mu);
}

// The loop is the linear one, bit for bit; the kernel comes after its mapping, with anchors among
// the mapped vectors of generalised max pooling.
TEST(SashWithKernel, StandsBehindTheMappingOfTheLoop) {
  MemoryRecords records(kSashDimension);
  ReduceImages(ClassImages(90, 3, 2), true, records, RunContext());
  const Labels labels = ClassesInTurn(90, 3);
  const Traced linear = Trace(SashOfBits(8), records, labels);
  const Traced kernel = Trace(KernelOptionsOf(8, 30), records, labels);
  ASSERT_EQ(linear.states.size(), kernel.states.size());
  EXPECT_TRUE(SameBits(linear.states.back().vectors, kernel.states.back().vectors));
  const MatrixF pooled = InitialVectors(SashOfBits(8).joint, records, RunContext());
  const LinearMap mapping =
      FindMapping(SashOfBits(8), pooled, kernel.states.back().vectors, RunContext());
  const auto& encoder = dynamic_cast<const MappedEncoder&>(*kernel.trained.model.encoder);
  EXPECT_TRUE(SameBits(encoder.map().weights, mapping.weights));
  EXPECT_TRUE(SameBits(encoder.map().bias, mapping.bias));
  const MatrixF mapped = (mapping.weights * pooled).colwise() + mapping.bias;
  const AnchorKernel& anchors = dynamic_cast<const KernelEncoder&>(encoder.encoder()).kernel();
  ASSERT_EQ(anchors.size(), 30);
  for (Index i = 0; i < 30; ++i) {
    const auto distances = (mapped.colwise() - anchors.anchors().col(i)).colwise().norm();
    EXPECT_LT(distances.minCoeff(), 1e-5F * mapped.norm()) << i;
  }
}

TEST(SashWithKernel, IsTheSameAtAnyNumberOfThreadsAndAfterAResume) {
  MemoryRecords records(kSashDimension);
  ReduceImages(ClassImages(150, 4, 3), true, records, RunContext());
  const Labels labels = ClassesInTurn(150, 4);
  const auto same = [](const HashModel& a, const HashModel& b) {
    const std::vector<NamedMatrix> left = a.encoder->Parameters(), right = b.encoder->Parameters();
    return std::ranges::equal(left, right,
                              [](const NamedMatrix& x, const NamedMatrix& y) {
                                return x.first == y.first && SameBits(x.second, y.second);
                              }) &&
           SameBits(a.decoder.weights, b.decoder.weights);
  };
  const SashOptions options = KernelOptionsOf(12, 40);
  const Traced whole = Trace(options, records, labels);
  ASSERT_GT(whole.states.size(), 1U);
  const HashModel& model = whole.trained.model;
  EXPECT_TRUE(same(TrainSash(options, records, labels, RunContext({.threads = 2})).model, model));
  EXPECT_TRUE(same(
      TrainSash(options, records, labels, RunContext(), {.resume = whole.states[0]}).model, model));
  EXPECT_FALSE(same(TrainSash(options, records, labels, RunContext({.seed = 2})).model, model));
}

TEST(SashWithKernel, AnInterruptionLeavesAModel) {
  MemoryRecords records(kSashDimension);
  ReduceImages(ClassImages(120, 3, 2), true, records, RunContext());
  std::stop_source stop;
  const auto trained =
      TrainSash(KernelOptionsOf(8, 40), records, ClassesInTurn(120, 3),
                RunContext({.stop = stop.get_token()}),
                {.observer = [&](const JointState& /*state*/) { stop.request_stop(); }});
  EXPECT_TRUE(trained.summary.interrupted);
  EXPECT_EQ(trained.summary.iterations.size(), 1U);
  EXPECT_GT(
      ModelSeparation(trained.model, PooledVectorsOf(ClassImages(90, 3, 5)), ClassesInTurn(90, 3)),
      0.2);
}

TEST(SashWithKernel, IsNotForShards) {
  MemoryRecords records(kSashDimension);
  ReduceImages(ClassImages(30, 3, 2), true, records, RunContext());
  ImageShard shard({.count = 30, .total = 30}, records);
  LocalShards shards({&shard});
  try {
    TrainSash(KernelOptionsOf(8, 10), shards, RunContext());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("anchors"));
  }
}

TEST(SashOptions, RefusesWhatHasNoMeaning) {
  SashOptions options;
  options.alpha = 0;
  EXPECT_THAT(WhatIsThrown([&] { options.Validate(); }), HasSubstr("alpha"));
  options = SashOptions();
  options.joint.mu = -1;
  EXPECT_THAT(WhatIsThrown([&] { options.Validate(); }), HasSubstr("mu"));
  options = SashOptions();
  options.kernel.anchors = -3;
  EXPECT_THAT(WhatIsThrown([&] { options.Validate(); }), HasSubstr("anchors"));
  const SashOptions paper = SashOptions::Paper(24);
  EXPECT_EQ(paper.joint.bits, 24);
  EXPECT_EQ(paper.joint.rba.lambda, 1e-4);
  EXPECT_EQ(paper.joint.rba.beta, 1e-3);
  EXPECT_EQ(paper.alpha, 0.5);
}

}  // namespace
}  // namespace bitpool
