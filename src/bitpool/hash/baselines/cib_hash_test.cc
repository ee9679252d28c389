#include "bitpool/hash/baselines/cib_hash.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/hash/baselines/head_testing.h"
#include "bitpool/hash/baselines/testing.h"
#include "bitpool/hash/contrast_loss.h"
#include "bitpool/hash/view_testing.h"

namespace bitpool {
namespace {

CibHashOptions QuickCibHash() { return {.bits = 8, .hidden = 24, .epochs = 30}; }

Trained<HashModel> TrainCib(const CibHashOptions& options, const ColumnSource& source,
                            const RunContext& context) {
  return TrainCibHash(options, {.vectors = source, .per_picture = 3}, context);
}

double Divergence(double p, double q) {
  return p * std::log(p / q) + (1 - p) * std::log((1 - p) / (1 - q));
}

// The part of the divergence from its definition, and the whole gradient: that with respect to the
// codes, times the slope of σ, and that of the divergence by differences.
TEST(CibLoss, IsWhatTheDefinitionSays) {
  const MatrixF z = Random(1).NormalMatrix(5, 8);
  const auto loss = [&](double weight) { return ComputeCibLoss(z, 0.3, weight, RunContext()); };
  const auto sigmoid = [](float at) { return 1 / (1 + std::exp(-static_cast<double>(at))); };
  double divergence = 0;
  for (Index picture = 0; picture < 4; ++picture) {
    for (Index bit = 0; bit < 5; ++bit) {
      const double p = sigmoid(z(bit, 2 * picture)), q = sigmoid(z(bit, 2 * picture + 1));
      divergence += 0.5 * (Divergence(p, q) + Divergence(q, p)) / 4;
    }
  }
  EXPECT_NEAR(loss(1).loss - loss(0).loss, divergence, 1e-5);

  // Numbers near zero have the same signs, and there tanh has the slope one.
  const MatrixF small = 1e-4F * z;
  const ContrastLoss codes = ComputeContrastLoss(small, 0.3, ContrastCodes::kSigns, RunContext());
  EXPECT_NEAR(loss(0).loss, codes.loss, 1e-6);
  const MatrixD expected =
      codes.gradient.cast<double>().array() *
      z.unaryExpr([&](float at) { return sigmoid(at) * (1 - sigmoid(at)); }).cast<double>().array();
  ExpectNear(loss(0).gradient, expected, 1e-4);
  // Steps that leave all signs as they are.
  const MatrixF apart = z.unaryExpr([](float at) { return at + (at < 0 ? -0.05F : 0.05F); });
  const auto at = [&](const MatrixF& where, double weight) {
    return ComputeCibLoss(where, 0.3, weight, RunContext());
  };
  const MatrixF gradient = at(apart, 2).gradient - at(apart, 0).gradient;
  ExpectNear(gradient,
             DifferencesOf(apart, [&](const MatrixF& where) { return at(where, 2).loss; }), 1e-3);
}

TEST(CibHash, CodesIgnoreWhatViewsDifferIn) {
  const MatrixF images = ViewSamples(12, 400, 3, 1), fresh = ViewSamples(12, 100, 3, 2);
  const auto trained = TrainCib(QuickCibHash(), MatrixColumns(images), RunContext());
  EXPECT_EQ(trained.model.method, "cibhash");
  EXPECT_EQ(trained.model.encoder->kind(), "two_layer");
  const auto& records = trained.summary.iterations;
  ASSERT_EQ(records.size(), 10U);
  EXPECT_LT(records.back().objective, records.front().objective - 0.3);
  const MatrixF h = trained.model.encoder->Project(fresh);
  double same = 0, other = 0;
  for (Index i = 0; i < 100; ++i) {
    const auto code = h.col(3 * i).array() >= 0;
    same += static_cast<double>((code != (h.col(3 * i + 1).array() >= 0)).count());
    other += static_cast<double>((code != (h.col((3 * i + 31) % 300).array() >= 0)).count());
  }
  EXPECT_LT(2 * same, other);
}

TEST(CibHash, SameAtAnyNumberOfThreads) {
  ExpectSameAtAnyNumberOfThreads(ViewSamples(12, 700, 3, 3),
                                 [](const ColumnSource& source, const RunContext& context) {
                                   CibHashOptions options = QuickCibHash();
                                   options.epochs = 3;
                                   return TrainCib(options, source, context);
                                 });
}

TEST(CibHash, RefusesWhatItCannotLearnFrom) {
  const MatrixF images = ViewSamples(8, 20, 3, 1);
  const MatrixColumns source(images);
  EXPECT_NE(RefusalOf([&] {
              TrainCibHash(QuickCibHash(), {.vectors = source, .per_picture = 1}, RunContext());
            }).find("expected at least 2 pictures with at least 2 images"),
            std::string::npos);
  MatrixF bad = images;
  bad(1, 7) = std::nanf("");
  EXPECT_NE(RefusalOf([&] {
              TrainCib(QuickCibHash(), MatrixColumns(bad), RunContext());
            }).find("column 7"),
            std::string::npos);
  for (const CibHashOptions& options :
       {CibHashOptions{.hidden = 0}, CibHashOptions{.temperature = 0.01},
        CibHashOptions{.divergence = -1}, CibHashOptions{.batch = 1},
        CibHashOptions{.learning_rate = 0}}) {
    EXPECT_THROW(options.Validate(), Error);
  }
}

}  // namespace
}  // namespace bitpool
