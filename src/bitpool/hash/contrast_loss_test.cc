#include "bitpool/hash/contrast_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

double Sign(double h) { return h >= 0 ? 1.0 : -1.0; }

// The definition word by word, in double precision.
double SlowLoss(const MatrixD& projections, double temperature, ContrastCodes form) {
  const MatrixD codes = projections.unaryExpr(
      [&](double h) { return form == ContrastCodes::kSigns ? Sign(h) : std::tanh(h); });
  double loss = 0;
  for (Index j = 0; j < codes.cols(); ++j) {
    const auto similarity = [&](Index k) {
      return codes.col(j).dot(codes.col(k)) / (codes.col(j).norm() * codes.col(k).norm());
    };
    double sum = 0;
    for (Index k = 0; k < codes.cols(); ++k) {
      if (k != j) sum += std::exp(similarity(k) / temperature);
    }
    const Index other = j % 2 == 0 ? j + 1 : j - 1;
    loss -= std::log(std::exp(similarity(other) / temperature) / sum);
  }
  return loss / static_cast<double>(codes.cols());
}

// Views of a picture are similar, so that the terms of the loss differ in size.
MatrixF Projections(Index bits, Index pictures, uint64_t seed) {
  Random random(seed);
  MatrixF h = random.NormalMatrix(bits, 2 * pictures);
  for (Index i = 0; i < pictures; ++i) h.col(2 * i + 1) += 0.8F * h.col(2 * i);
  return h;
}

TEST(ContrastLoss, IsWhatTheDefinitionSays) {
  for (const ContrastCodes form : {ContrastCodes::kSigns, ContrastCodes::kTanh}) {
    for (const Index bits : {1, 7, 32, 130}) {
      for (const Index pictures : {2, 3, 80}) {
        for (const double temperature : {0.025, 0.07, 0.5}) {
          const MatrixF h = Projections(bits, pictures, static_cast<uint64_t>(bits + pictures));
          const double expected = SlowLoss(h.cast<double>(), temperature, form);
          EXPECT_NEAR(ComputeContrastLoss(h, temperature, form, RunContext()).loss, expected,
                      1e-5 * (1 + expected))
              << bits << " bits, " << pictures << " pictures, temperature " << temperature;
        }
      }
    }
  }
}

TEST(ContrastLoss, GradientAgreesWithDifferences) {
  for (const Index pictures : {2, 5, 40}) {
    const MatrixF h = Projections(9, pictures, 3);
    const MatrixF gradient =
        ComputeContrastLoss(h, 0.2, ContrastCodes::kTanh, RunContext()).gradient;
    const double step = 1e-5;
    MatrixD differences(h.rows(), h.cols());
    for (Index column = 0; column < h.cols(); ++column) {
      for (Index bit = 0; bit < h.rows(); ++bit) {
        MatrixD moved = h.cast<double>();
        moved(bit, column) += step;
        const double above = SlowLoss(moved, 0.2, ContrastCodes::kTanh);
        moved(bit, column) -= 2 * step;
        differences(bit, column) =
            (above - SlowLoss(moved, 0.2, ContrastCodes::kTanh)) / (2 * step);
      }
    }
    EXPECT_LT((gradient.cast<double>() - differences).norm(), 2e-5 * differences.norm())
        << pictures << " pictures";
  }
}

// The straight-through gradient in words: that with respect to codes, taken at the signs, times the
// derivative of tanh. Codes are real numbers here, so their gradient can be had by differences.
TEST(ContrastLoss, GradientOfSignsGoesStraightThrough) {
  const MatrixF h = Projections(16, 10, 4);
  const double temperature = 0.3;
  const MatrixF gradient =
      ComputeContrastLoss(h, temperature, ContrastCodes::kSigns, RunContext()).gradient;
  const auto loss_of_codes = [&](const MatrixD& codes) {
    // tanh of its inverse; signs are moved a little inwards, which the cosine does not see.
    return SlowLoss((0.9 * codes).unaryExpr([](double c) { return std::atanh(c); }), temperature,
                    ContrastCodes::kTanh);
  };
  const MatrixD signs = h.cast<double>().unaryExpr([](double value) { return Sign(value); });
  const double step = 1e-5;
  MatrixD expected(h.rows(), h.cols());
  for (Index column = 0; column < h.cols(); ++column) {
    for (Index bit = 0; bit < h.rows(); ++bit) {
      MatrixD moved = signs;
      moved(bit, column) += step;
      const double above = loss_of_codes(moved);
      moved(bit, column) -= 2 * step;
      const double slope = (above - loss_of_codes(moved)) / (2 * step);
      expected(bit, column) =
          slope * (1 - std::pow(std::tanh(static_cast<double>(h(bit, column))), 2));
    }
  }
  EXPECT_LT((gradient.cast<double>() - expected).norm(), 1e-4 * expected.norm());
}

// Worked by hand: two pictures, one bit, codes +, + and −, −. Every column sees its other view with
// s = 1 and two others with s = −1, so the loss is log(1 + 2 exp(−2/τ)).
TEST(ContrastLoss, ACaseWorkedByHand) {
  MatrixF h(1, 4);
  h << 0.5F, 3, -0.1F, -2;
  const ContrastLoss result = ComputeContrastLoss(h, 0.5, ContrastCodes::kSigns, RunContext());
  EXPECT_NEAR(result.loss, std::log(1 + 2 * std::exp(-4.0)), 1e-7);
  EXPECT_LT(result.gradient.norm(), 1e-7);  // the cosine of single numbers cannot change
}

TEST(ContrastLoss, TellsNothingWhenAllCodesAreEqual) {
  const MatrixF h = MatrixF::Constant(8, 20, 0.7F);
  for (const ContrastCodes form : {ContrastCodes::kSigns, ContrastCodes::kTanh}) {
    const ContrastLoss result = ComputeContrastLoss(h, 0.07, form, RunContext());
    EXPECT_NEAR(result.loss, std::log(19.0), 1e-5);
    EXPECT_LT(result.gradient.norm(), 1e-5);
  }
}

TEST(ContrastLoss, IsFiniteAtTheEdges) {
  MatrixF h = Projections(12, 3, 6);
  h.col(0).setZero();           // a code of zeros has no direction
  h.col(3).setConstant(1e30F);  // tanh is flat
  h.col(4).setConstant(-1e30F);
  for (const ContrastCodes form : {ContrastCodes::kSigns, ContrastCodes::kTanh}) {
    const ContrastLoss result = ComputeContrastLoss(h, kLeastTemperature, form, RunContext());
    EXPECT_TRUE(std::isfinite(result.loss));
    EXPECT_TRUE(result.gradient.allFinite());
  }
}

TEST(ContrastLoss, IsTheSameAtAnyNumberOfThreads) {
  const MatrixF h = Projections(32, 213, 5);
  const ContrastLoss one =
      ComputeContrastLoss(h, 0.07, ContrastCodes::kSigns, RunContext({.threads = 1}));
  const ContrastLoss three =
      ComputeContrastLoss(h, 0.07, ContrastCodes::kSigns, RunContext({.threads = 3}));
  EXPECT_EQ(one.loss, three.loss);
  EXPECT_TRUE(SameBits(one.gradient, three.gradient));
}

}  // namespace
}  // namespace bitpool
