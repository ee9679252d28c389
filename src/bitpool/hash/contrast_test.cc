#include "bitpool/hash/contrast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "bitpool/hash/itq.h"
#include "bitpool/hash/testing.h"
#include "bitpool/hash/view_batches.h"
#include "bitpool/hash/view_scale.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

// Pictures differ in the first half of the dimensions; views differ from their picture there by
// little, and in the second half by much more than pictures differ.
MatrixF GeneratedViews(Index dimension, Index pictures, Index per_picture, uint64_t seed) {
  Random random(seed);
  const Index half = dimension / 2;
  MatrixF x = random.NormalMatrix(dimension, pictures * per_picture);
  x.topRows(half) *= 0.3F;
  x.bottomRows(dimension - half) *= 3;
  for (Index picture = 0; picture < pictures; ++picture) {
    const VectorF content = random.NormalMatrix(half, 1);
    x.block(0, picture * per_picture, half, per_picture).colwise() += content;
  }
  x.array() += 2;  // away from the origin
  return x;
}

LinearMap ItqStart(const MatrixF& x, int bits) {
  const MatrixColumns source(x);
  TrainingSummary unused;
  return FindItqEncoder({.bits = bits}, source, ComputeMoments(source, RunContext()), RunContext(),
                        unused);
}

ContrastOptions Small(int epochs = 20, Index hidden = 0) {
  ContrastOptions options;
  options.epochs = epochs;
  options.batch = 64;
  options.hidden = hidden;
  options.temperature = 0.1;
  options.learning_rate = 3e-3;  // few batches, and a start that knows nothing of views
  return options;
}

Trained<HashModel> Train(const ContrastOptions& options, const MatrixF& x, Index per_picture,
                         int bits = 16, const RunContext& context = RunContext()) {
  const MatrixColumns source(x);
  return TrainContrast(options, {.vectors = source, .per_picture = per_picture}, ItqStart(x, bits),
                       context);
}

int DistanceBetween(const BinaryCodes& codes, Index a, Index b) {
  return static_cast<int>((SignsOf(codes, a, 1).array() != SignsOf(codes, b, 1).array()).count());
}

// How often the nearest picture of a second image is its own. A tie counts as half.
double Found(const HashEncoder& encoder, const MatrixF& x, Index per_picture) {
  const BinaryCodes codes = encoder.Encode(x);
  const Index pictures = x.cols() / per_picture;
  double found = 0;
  for (Index i = 0; i < pictures; ++i) {
    const int own = DistanceBetween(codes, i * per_picture + 1, i * per_picture);
    bool best = true;
    bool tie = false;
    for (Index j = 0; j < pictures; ++j) {
      if (j == i) continue;
      const int other = DistanceBetween(codes, i * per_picture + 1, j * per_picture);
      best = best && other >= own;
      tie = tie || other == own;
    }
    found += best ? (tie ? 0.5 : 1) : 0;
  }
  return found / static_cast<double>(pictures);
}

const LinearMap& LinearMapOf(const HashModel& model) {
  return dynamic_cast<const LinearEncoder&>(*model.encoder).map();
}

TEST(Contrast, IgnoresWhatViewsDifferIn) {
  const MatrixF x = GeneratedViews(32, 600, 4, 1);
  const MatrixF unseen = GeneratedViews(32, 200, 2, 2);
  const double before = Found(LinearEncoder(ItqStart(x, 32)), unseen, 2);
  for (const Index hidden : {0, 64}) {
    const Trained<HashModel> trained = Train(Small(40, hidden), x, 4, 32);
    const auto& iterations = trained.summary.iterations;
    ASSERT_EQ(iterations.size(), 40U);
    EXPECT_LT(iterations.back().objective, 0.5 * iterations.front().objective);
    EXPECT_GT(Found(*trained.model.encoder, unseen, 2), before + 0.4) << hidden;
    EXPECT_EQ(trained.model.encoder->kind(), hidden == 0 ? "linear" : "two_layer");
    EXPECT_EQ(trained.model.method, "sav");
    EXPECT_EQ(trained.summary.samples, 2400);
    EXPECT_FALSE(trained.summary.interrupted);
    EXPECT_LT(ReconstructionError(trained.model, MatrixColumns(x), RunContext()),
              (x.colwise() - x.rowwise().mean()).squaredNorm() / 2400);
  }
}

// Without steps worth mentioning the codes are those of the start, with or without a hidden layer.
TEST(Contrast, BeginsAtTheStart) {
  const MatrixF x = GeneratedViews(20, 100, 3, 1);
  const LinearMap start = ItqStart(x, 12);
  for (const Index hidden : {0, 10}) {
    ContrastOptions options = Small(1, hidden);
    options.learning_rate = 1e-12;
    options.weight_decay = 0;
    const HashModel model = Train(options, x, 3, 12).model;
    const MatrixF h = model.encoder->Project(x);
    MatrixF expected = start.weights * x;
    expected.colwise() += start.bias;
    for (Index bit = 0; bit < 12; ++bit) {
      const VectorD values = expected.row(bit).cast<double>();
      const double variance = (values.array() - values.mean()).square().mean();
      const VectorD scaled = values / std::sqrt(variance);
      EXPECT_LT((h.row(bit).transpose().cast<double>() - scaled).norm(), 1e-3) << bit;
    }
  }
}

TEST(Contrast, IsTheSameAtAnyNumberOfThreadsAndFromAnySource) {
  const MatrixF x = GeneratedViews(20, 150, 3, 4);
  const LinearMap start = ItqStart(x, 12);
  for (const Index hidden : {0, 70}) {
    const MatrixColumns in_memory(x);
    const CopiedColumns copied(x);
    ContrastOptions options = Small(3, hidden);
    const HashModel one =
        TrainContrast(options, {in_memory, 3}, start, RunContext({.threads = 1})).model;
    const HashModel kept =
        TrainContrast(options, {copied, 3}, start, RunContext({.threads = 3})).model;
    options.memory = 100;
    const HashModel read =
        TrainContrast(options, {copied, 3}, start, RunContext({.threads = 2})).model;
    EXPECT_TRUE(SameBits(one.encoder->Project(x), kept.encoder->Project(x)));
    EXPECT_TRUE(SameBits(one.encoder->Project(x), read.encoder->Project(x)));
    EXPECT_TRUE(SameBits(one.decoder.weights, read.decoder.weights));
    const HashModel other =
        TrainContrast(options, {copied, 3}, start, RunContext({.threads = 2, .seed = 2})).model;
    EXPECT_FALSE(SameBits(one.encoder->Project(x), other.encoder->Project(x)));
  }
}

TEST(Contrast, ResumedIsAsInOneGo) {
  const MatrixF x = GeneratedViews(20, 150, 3, 4);
  const MatrixColumns source(x);
  const LinearMap start = ItqStart(x, 12);
  for (const Index hidden : {0, 7}) {
    const ContrastOptions options = Small(10, hidden);
    std::optional<ContrastState> half;
    const Trained<HashModel> whole = TrainContrast(options, {source, 3}, start, RunContext(),
                                                   {.observer = [&](const ContrastState& state) {
                                                     if (state.iterations.size() == 5) half = state;
                                                   }});
    ASSERT_TRUE(half);
    size_t observed = 0;
    const Trained<HashModel> resumed =
        TrainContrast(options, {source, 3}, start, RunContext(),
                      {.resume = half, .observer = [&](const ContrastState&) { ++observed; }});
    EXPECT_EQ(observed, 5U);
    ASSERT_EQ(resumed.summary.iterations.size(), 10U);
    EXPECT_TRUE(SameBits(whole.model.encoder->Project(x), resumed.model.encoder->Project(x)));
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(whole.summary.iterations[i].objective, resumed.summary.iterations[i].objective);
    }
    half->square.linear.bias.resize(11);
    EXPECT_THAT(RefusalOf([&] {
                  TrainContrast(options, {source, 3}, start, RunContext(), {.resume = half});
                }),
                HasSubstr("to resume"));
  }
}

TEST(Contrast, AnInterruptionLeavesTheLastEpoch) {
  const MatrixF x = GeneratedViews(20, 300, 3, 4);
  const Trained<HashModel> stopped = Train(Small(), x, 3, 12, StoppedContext("contrast", 2));
  EXPECT_TRUE(stopped.summary.interrupted);
  ASSERT_EQ(stopped.summary.iterations.size(), 2U);
  const MatrixColumns source(x);
  std::optional<ContrastState> second;
  TrainContrast(Small(), {source, 3}, ItqStart(x, 12), RunContext(),
                {.observer = [&](const ContrastState& state) {
                  if (state.iterations.size() == 2) second = state;
                }});
  EXPECT_EQ(stopped.summary.iterations[1].objective, second->iterations[1].objective);
  EXPECT_THROW(Train(Small(), x, 3, 12, StoppedContext("contrast", 0)), Error);
}

TEST(Contrast, ShowsTheLoss) {
  struct Notes : ProgressSink {
    void Report(const ProgressUpdate& update) override {
      if (update.task == "contrast") note = update.note;
    }
    std::string note;
  };
  const auto notes = std::make_shared<Notes>();
  const MatrixF x = GeneratedViews(10, 30, 2, 4);
  const Trained<HashModel> trained = Train(Small(2), x, 2, 4, RunContext({.progress = notes}));
  EXPECT_THAT(notes->note, ::testing::StartsWith("loss "));
  EXPECT_NEAR(std::stod(notes->note.substr(5)), trained.summary.iterations.back().objective, 1e-3);
}

TEST(Contrast, NeedsViewsAndPictures) {
  const MatrixF x = GeneratedViews(10, 30, 2, 4);
  EXPECT_THAT(RefusalOf([&] { Train(Small(), x, 1, 4); }), HasSubstr("at least 2 images of each"));
  EXPECT_THAT(RefusalOf([&] { Train(Small(), x, 0, 4); }), HasSubstr("at least 2"));
  EXPECT_THAT(RefusalOf([&] { Train(Small(), x, 60, 4); }), HasSubstr("got 1 with 60"));
  EXPECT_THAT(RefusalOf([&] { Train(Small(), x, 7, 4); }), HasSubstr("60 images: expected 7"));
  const MatrixColumns source(x);
  const LinearMap other{.weights = MatrixF::Ones(4, 9), .bias = VectorF::Ones(4)};
  EXPECT_THAT(RefusalOf([&] {
                TrainContrast(Small(), {source, 2}, other, RunContext());
              }),
              HasSubstr("expected a map of dimension 10, got 9"));
}

TEST(Contrast, NamesNumbersThatAreNotFinite) {
  MatrixF x = GeneratedViews(10, 30, 2, 4);
  const LinearMap start = ItqStart(x, 4);
  x(3, 17) = std::numeric_limits<float>::quiet_NaN();
  const MatrixColumns source(x);
  EXPECT_THAT(RefusalOf([&] {
                TrainContrast(Small(), {source, 2}, start, RunContext());
              }),
              HasSubstr("column 17, row 3"));
  LinearMap bad = start;
  bad.bias[0] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(RefusalOf([&] {
                TrainContrast(Small(), {source, 2}, bad, RunContext());
              }),
              HasSubstr("not finite"));
}

TEST(Contrast, VectorsThatAreAllAlikeAreRefused) {
  const MatrixF x = MatrixF::Constant(10, 30, 0.1F);
  const MatrixColumns source(x);
  const LinearMap start{.weights = MatrixF::Ones(4, 10), .bias = VectorF::Zero(4)};
  EXPECT_THAT(RefusalOf([&] {
                TrainContrast(Small(), {source, 2}, start, RunContext());
              }),
              HasSubstr("all alike"));
}

// Views that say nothing: pictures are still told apart. The bits begin as functions that hardly
// differ, so that a few codes are those of all pictures; their mean distance cannot tell, since it
// is that of any bits that halve the pictures.
TEST(Contrast, ViewsThatAreAllEqualSpreadThePictures) {
  constexpr Index kPictures = 40, kBits = 8;
  MatrixF x = GeneratedViews(10, kPictures, 2, 4);
  for (Index i = 0; i < kPictures; ++i) x.col(2 * i + 1) = x.col(2 * i);
  Random random(54);
  const VectorF common = random.NormalMatrix(10, 1);
  LinearMap start{.weights = 0.3F * random.NormalMatrix(kBits, 10), .bias = VectorF::Zero(kBits)};
  start.weights.rowwise() += common.transpose();
  start.bias = -start.weights * x.rowwise().mean();
  const auto different_codes = [&](const HashEncoder& encoder) {
    const MatrixF signs = SignsOf(encoder.Encode(x), 0, x.cols());
    std::set<std::vector<float>> codes;
    for (Index i = 0; i < signs.cols(); ++i) {
      const VectorF code = signs.col(i);
      codes.emplace(code.begin(), code.end());
    }
    return codes.size();
  };
  const MatrixColumns source(x);
  const Trained<HashModel> trained = TrainContrast(Small(400), {source, 2}, start, RunContext());
  EXPECT_LT(different_codes(LinearEncoder(start)), 16U);
  EXPECT_GT(different_codes(*trained.model.encoder), 30U);
  const auto& iterations = trained.summary.iterations;
  EXPECT_LT(iterations.back().objective, 0.3 * iterations.front().objective);
  EXPECT_TRUE(LinearMapOf(trained.model).weights.allFinite());
}

TEST(Contrast, WorksWithFewPictures) {
  // Two pictures; fewer than dimensions; fewer than a batch; one more than a batch.
  for (const Index pictures : {2, 5, 63, 65}) {
    const MatrixF x = GeneratedViews(24, pictures, 3, 4);
    const Trained<HashModel> trained = Train(Small(3), x, 3, 8);
    EXPECT_TRUE(LinearMapOf(trained.model).weights.allFinite()) << pictures;
    EXPECT_LT(trained.summary.iterations.back().objective, std::log(2 * pictures) + 5);
  }
}

// A bit that is the same for all samples stays finite.
TEST(Contrast, AConstantBitDoesNoHarm) {
  const MatrixF x = GeneratedViews(10, 30, 2, 4);
  LinearMap start = ItqStart(x, 4);
  start.weights.row(2).setZero();
  start.bias[2] = -1;
  const MatrixColumns source(x);
  const HashModel model = TrainContrast(Small(2), {source, 2}, start, RunContext()).model;
  EXPECT_TRUE(LinearMapOf(model).weights.allFinite());
}

TEST(Contrast, RefusesOptionsWithoutMeaning) {
  const auto refusal = [](const auto& change) {
    ContrastOptions options;
    change(options);
    return RefusalOf([&] { options.Validate(); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal([](ContrastOptions&) {}), HasSubstr("no error"));
  for (const double bad : {0.0, -1.0, 0.01, nan}) {
    EXPECT_THAT(refusal([&](ContrastOptions& o) { o.temperature = bad; }),
                HasSubstr("temperature"));
  }
  EXPECT_THAT(refusal([](ContrastOptions& o) { o.epochs = 0; }), HasSubstr("epochs"));
  EXPECT_THAT(refusal([](ContrastOptions& o) { o.batch = 1; }), HasSubstr("batch"));
  EXPECT_THAT(refusal([](ContrastOptions& o) { o.hidden = -1; }), HasSubstr("hidden"));
  EXPECT_THAT(refusal([&](ContrastOptions& o) { o.learning_rate = nan; }), HasSubstr("rate"));
  EXPECT_THAT(refusal([&](ContrastOptions& o) { o.weight_decay = nan; }), HasSubstr("decay"));
  EXPECT_THAT(refusal([](ContrastOptions& o) { o.weight_decay = 10000; }), HasSubstr("decay"));
}

TEST(ViewBatches, HoldEveryPictureOnceWithTwoDifferentImages) {
  for (const Index pictures : {2, 3, 64, 100, 129}) {
    const std::vector<ViewPairs> batches = DrawViewPairs(pictures, 3, 64, Random(1));
    EXPECT_EQ(static_cast<Index>(batches.size()), std::max<Index>(1, pictures / 64));
    std::set<Index> seen;
    std::set<Index> images;
    for (const ViewPairs& batch : batches) {
      ASSERT_EQ(batch.size() % 2, 0U);
      for (size_t i = 0; i < batch.size(); i += 2) {
        EXPECT_EQ(batch[i] / 3, batch[i + 1] / 3);
        EXPECT_NE(batch[i], batch[i + 1]);
        EXPECT_TRUE(seen.insert(batch[i] / 3).second);
        images.insert({batch[i] % 3, batch[i + 1] % 3});
      }
      EXPECT_LE(std::abs(static_cast<Index>(batch.size()) - static_cast<Index>(batches[0].size())),
                2);
    }
    EXPECT_EQ(static_cast<Index>(seen.size()), pictures);
    EXPECT_EQ(*seen.rbegin(), pictures - 1);
    if (pictures > 50) {
      EXPECT_EQ(images.size(), 3U);  // all images are drawn
    }
  }
}

TEST(ViewScale, ScalesToAndFro) {
  const MatrixF x = GeneratedViews(12, 50, 2, 3);
  const LinearMap map = ItqStart(x, 5);
  const ViewScale scale = MeasureViews(MatrixColumns(x), map, RunContext());
  const MatrixF scaled = ((x.cast<double>().colwise() - scale.mean) / scale.unit).cast<float>();
  EXPECT_LT(scaled.rowwise().mean().norm(), 1e-4);
  EXPECT_NEAR(scaled.squaredNorm() / static_cast<float>(scaled.size()),
              kScaledDeviation * kScaledDeviation, 1e-4);
  const LinearMap start = ScaledStart(scale, map);
  const LinearMap back = Unscaled(scale, start);
  const MatrixF h = (start.weights * scaled).colwise() + start.bias;
  EXPECT_LT((h - ((back.weights * x).colwise() + back.bias)).norm(), 1e-3F);
  for (Index bit = 0; bit < 5; ++bit) {
    const VectorF values = h.row(bit).transpose();
    EXPECT_NEAR((values.array() - values.mean()).square().mean(), 1, 1e-3);
  }
}

}  // namespace
}  // namespace bitpool
