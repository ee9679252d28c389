#include "bitpool/hash/baselines/code_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitpool/base/random.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

constexpr int kNever = 0;  // enumerate_bits that never enumerates

struct StepProblem {
  MatrixF samples, hashes, codes;
  LinearMap decoder;
  double penalty = 0;
};

MatrixF RandomSigns(Index rows, Index cols, Random& random) {
  return random.NormalMatrix(rows, cols).unaryExpr([](float value) {
    return value >= 0 ? 1.0F : -1.0F;
  });
}

// Samples near codes, as in training; hashes and codes are noisy copies of those.
StepProblem MakeProblem(Index dimension, Index bits, Index count, double penalty, uint64_t seed) {
  Random random(seed);
  StepProblem problem;
  problem.penalty = penalty;
  problem.decoder = {.weights = random.NormalMatrix(dimension, bits),
                     .bias = random.NormalMatrix(dimension, 1)};
  const MatrixF truth = RandomSigns(bits, count, random);
  problem.samples = problem.decoder.weights * truth + 2.0F * random.NormalMatrix(dimension, count);
  problem.samples.colwise() += problem.decoder.bias;
  const auto flip = [&](float value) { return random.Uniform() < 0.2 ? -value : value; };
  problem.hashes = truth.unaryExpr(flip);
  problem.codes = truth.unaryExpr(flip);
  return problem;
}

double Value(const StepProblem& problem, Index sample, const VectorF& code) {
  const VectorD rest = problem.samples.col(sample).cast<double>() -
                       problem.decoder.bias.cast<double>() -
                       problem.decoder.weights.cast<double>() * code.cast<double>();
  const auto differing = (code.array() != problem.hashes.col(sample).array()).count();
  return rest.squaredNorm() + problem.penalty * static_cast<double>(differing);
}

double TotalValue(const StepProblem& problem) {
  double total = 0;
  for (Index i = 0; i < problem.codes.cols(); ++i) {
    total += Value(problem, i, problem.codes.col(i));
  }
  return total;
}

double LeastValue(const StepProblem& problem, Index sample) {
  const Index bits = problem.codes.rows();
  double least = std::numeric_limits<double>::infinity();
  for (int number = 0; number < 1 << bits; ++number) {
    VectorF code(bits);
    for (Index bit = 0; bit < bits; ++bit) code[bit] = (number >> bit & 1) != 0 ? 1.0F : -1.0F;
    least = std::min(least, Value(problem, sample, code));
  }
  return least;
}

void Improve(StepProblem& problem, int enumerate_bits) {
  CodeStep(problem.decoder, problem.penalty, enumerate_bits)
      .Improve(problem.samples, problem.hashes, problem.codes);
}

bool AllSigns(const MatrixF& codes) { return (codes.array().abs() == 1).all(); }

TEST(CodeStep, EnumerationFindsTheBest) {
  for (const Index bits : {1, 2, 5, 8}) {
    for (const double penalty : {0.0, 3.0, 100.0}) {
      StepProblem problem = MakeProblem(6, bits, 70, penalty, static_cast<uint64_t>(bits));
      Improve(problem, 8);
      EXPECT_TRUE(AllSigns(problem.codes));
      for (Index i = 0; i < 70; ++i) {
        EXPECT_NEAR(Value(problem, i, problem.codes.col(i)) / LeastValue(problem, i), 1, 1e-5);
      }
    }
  }
}

TEST(CodeStep, AlternationFindsTheBestMostly) {
  for (const double penalty : {0.0, 3.0}) {
    StepProblem problem = MakeProblem(12, 8, 300, penalty, 9);
    Improve(problem, kNever);
    int found = 0;
    for (Index i = 0; i < 300; ++i) {
      if (Value(problem, i, problem.codes.col(i)) <= (1 + 1e-5) * LeastValue(problem, i)) ++found;
    }
    EXPECT_GT(found, 240) << penalty;
  }
}

TEST(CodeStep, AlternationEndsWhereNoBitHelpsAndNeverWorseThanItBegan) {
  for (const Index bits : {1, 12, 33, 64}) {
    StepProblem problem = MakeProblem(40, bits, 130, 2.0, static_cast<uint64_t>(bits));
    const MatrixF before = problem.codes;
    Improve(problem, kNever);
    EXPECT_TRUE(AllSigns(problem.codes));
    for (Index i = 0; i < 130; ++i) {
      VectorF code = problem.codes.col(i);
      const double value = Value(problem, i, code);
      EXPECT_LE(value, (1 + 1e-5) * Value(problem, i, before.col(i)));
      for (Index bit = 0; bit < bits; ++bit) {
        code[bit] = -code[bit];
        EXPECT_GE(Value(problem, i, code), (1 - 1e-5) * value) << bit;
        code[bit] = -code[bit];
      }
    }
  }
}

TEST(CodeStep, TwoStartsBeatOne) {
  // From the codes alone, bit by bit, worked here; the rounded start must help some of them.
  StepProblem problem = MakeProblem(10, 16, 200, 1.0, 3);
  StepProblem slow = problem;
  for (Index i = 0; i < 200; ++i) {
    VectorF code = slow.codes.col(i);
    for (bool moved = true; moved;) {
      moved = false;
      for (Index bit = 0; bit < 16; ++bit) {
        const double value = Value(slow, i, code);
        code[bit] = -code[bit];
        if (Value(slow, i, code) < value) {
          moved = true;
        } else {
          code[bit] = -code[bit];
        }
      }
    }
    slow.codes.col(i) = code;
  }
  Improve(problem, kNever);
  EXPECT_LT(TotalValue(problem), 0.99 * TotalValue(slow));
}

TEST(CodeStep, ImprovingAgainChangesNothing) {
  for (const int enumerate_bits : {kNever, 10}) {
    StepProblem problem = MakeProblem(12, 9, 200, 1.0, 4);
    Improve(problem, enumerate_bits);
    const MatrixF once = problem.codes;
    Improve(problem, enumerate_bits);
    EXPECT_EQ(problem.codes, once);
  }
}

TEST(CodeStep, LargePenaltyGivesTheHashes) {
  for (const int enumerate_bits : {kNever, 10}) {
    StepProblem problem = MakeProblem(12, 10, 100, 1e5, 5);
    Improve(problem, enumerate_bits);
    EXPECT_EQ(problem.codes, problem.hashes);
  }
}

TEST(CodeStep, BitsWithoutAnEffectStayOrFollowTheHashes) {
  for (const int enumerate_bits : {kNever, 10}) {
    StepProblem problem = MakeProblem(12, 6, 100, 0, 6);
    problem.decoder.weights.col(2).setZero();
    const MatrixF before = problem.codes;
    Improve(problem, enumerate_bits);
    if (enumerate_bits == kNever) {
      EXPECT_EQ(problem.codes.row(2), before.row(2));
    }
    problem.penalty = 1e-3;
    Improve(problem, enumerate_bits);
    EXPECT_EQ(problem.codes.row(2), problem.hashes.row(2));
  }
}

TEST(CodeStep, ObjectiveFallsWithEveryStepOfDecoderAndCodes) {
  for (const int enumerate_bits : {kNever, 10}) {
    StepProblem problem = MakeProblem(20, 8, 500, 1.0, 7);
    double value = TotalValue(problem);
    for (int round = 0; round < 6; ++round) {
      CrossMoments moments(8, 20);
      moments.Add(problem.codes, problem.samples);
      problem.decoder = SolveRidge(moments, 0);
      const double decoded = TotalValue(problem);
      EXPECT_LE(decoded, (1 + 1e-6) * value);
      Improve(problem, enumerate_bits);
      value = TotalValue(problem);
      EXPECT_LE(value, (1 + 1e-6) * decoded);
    }
  }
}

TEST(CodeStep, NoSamples) {
  StepProblem problem = MakeProblem(3, 4, 0, 1.0, 8);
  Improve(problem, kNever);
  EXPECT_EQ(problem.codes.cols(), 0);
}

}  // namespace
}  // namespace bitpool
