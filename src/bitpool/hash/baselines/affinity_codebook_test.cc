#include "bitpool/hash/baselines/affinity_codebook.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

struct Problem {
  MatrixD samples;
  std::vector<Index> codes;
  CellSums cells;
};

// Every sample with its nearest codeword.
Problem Assign(const MatrixD& samples, const MatrixD& codewords) {
  Problem problem;
  problem.samples = samples;
  problem.cells.counts.setZero(codewords.cols());
  problem.cells.totals.setZero(samples.rows(), codewords.cols());
  for (Index i = 0; i < samples.cols(); ++i) {
    Index best = 0;
    (codewords.colwise() - samples.col(i)).colwise().squaredNorm().minCoeff(&best);
    problem.codes.push_back(best);
    problem.cells.counts[best] += 1;
    problem.cells.totals.col(best) += samples.col(i);
    problem.cells.squares += samples.col(i).squaredNorm();
  }
  return problem;
}

double SlowObjective(const Problem& problem, const MatrixD& codewords, double edge, double lambda) {
  const auto n = static_cast<double>(problem.samples.cols());
  double quantisation = 0;
  for (Index i = 0; i < problem.samples.cols(); ++i) {
    const Index code = problem.codes[static_cast<size_t>(i)];
    quantisation += (problem.samples.col(i) - codewords.col(code)).squaredNorm() / n;
  }
  double affinity = 0;
  for (Index i = 0; i < codewords.cols(); ++i) {
    for (Index j = 0; j < codewords.cols(); ++j) {
      const double distance = (codewords.col(i) - codewords.col(j)).norm();
      const int hamming = std::popcount(static_cast<uint64_t>(i ^ j));
      const double error = distance - edge * std::sqrt(static_cast<double>(hamming));
      affinity += problem.cells.counts[i] * problem.cells.counts[j] / (n * n) * error * error;
    }
  }
  return quantisation + lambda * affinity;
}

MatrixD MakeSamples(Index dimension, Index count, uint64_t seed) {
  Random random(seed);
  MatrixD samples = random.NormalMatrix(dimension, count).cast<double>();
  for (Index i = 0; i < dimension; ++i) samples.row(i) *= 3.0 / static_cast<double>(i + 1);
  for (Index i = 0; i < count; i += 3) samples.col(i).array() += 2;
  return samples;
}

TEST(AffinityCodebook, StartsAtTheVerticesOfAHypercube) {
  const AffinityCodebook codebook(5, 3, 4.0);
  ASSERT_EQ(codebook.codewords().rows(), 5);
  ASSERT_EQ(codebook.codewords().cols(), 8);
  VectorD sixth(5);
  sixth << -2, 2, 2, 0, 0;  // 6 is 110 in binary, the lowest bit last
  EXPECT_EQ(codebook.codewords().col(6), sixth);
  const Problem problem = Assign(MakeSamples(5, 300, 1), codebook.codewords());
  EXPECT_NEAR(codebook.Objective(problem.cells, 1e6), codebook.Objective(problem.cells, 0), 1e-6);
}

TEST(AffinityCodebook, ObjectiveAgreesAndNeverRises) {
  for (const double lambda : {0.0, 0.5, 10.0}) {
    for (const int bits : {1, 2, 4}) {
      const MatrixD samples = MakeSamples(6, 500, 2);
      AffinityCodebook codebook(6, bits, 2.5);
      for (int step = 0; step < 5; ++step) {
        const Problem problem = Assign(samples, codebook.codewords());
        const double before = codebook.Objective(problem.cells, lambda);
        EXPECT_NEAR(before, SlowObjective(problem, codebook.codewords(), 2.5, lambda),
                    1e-10 * before);
        codebook.Update(problem.cells, lambda);
        const double after = codebook.Objective(problem.cells, lambda);
        EXPECT_NEAR(after, SlowObjective(problem, codebook.codewords(), 2.5, lambda),
                    1e-10 * after);
        EXPECT_LE(after, before + 1e-12 * before);
      }
    }
  }
}

// After many updates with one assignment no codeword can be moved to advantage.
TEST(AffinityCodebook, EndsInAMinimum) {
  const double lambda = 10, edge = 2.5;
  AffinityCodebook codebook(4, 3, edge);
  const Problem problem = Assign(MakeSamples(4, 400, 3), codebook.codewords());
  for (int step = 0; step < 300; ++step) codebook.Update(problem.cells, lambda);
  const double value = SlowObjective(problem, codebook.codewords(), edge, lambda);
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    MatrixD moved = codebook.codewords();
    const auto j = static_cast<Index>(random.Below(8));
    moved.col(j) += 0.05 * random.NormalMatrix(4, 1).cast<double>();
    EXPECT_GT(SlowObjective(problem, moved, edge, lambda), value - 1e-9);
  }
}

TEST(AffinityCodebook, WithoutAffinityTheUpdateIsKMeans) {
  AffinityCodebook codebook(3, 2, 3.0);
  const Problem problem = Assign(MakeSamples(3, 200, 5), codebook.codewords());
  codebook.Update(problem.cells, 0);
  for (Index j = 0; j < 4; ++j) {
    ASSERT_GT(problem.cells.counts[j], 0);
    const VectorD mean = problem.cells.totals.col(j) / problem.cells.counts[j];
    EXPECT_LT((codebook.codewords().col(j) - mean).norm(), 1e-9);
  }
}

TEST(AffinityCodebook, CodewordsWithoutSamplesStay) {
  AffinityCodebook codebook(2, 2, 2.0);
  MatrixD samples(2, 3);
  samples << 5, 6, 7,  //
      5, 6, -7;
  const Problem problem = Assign(samples, codebook.codewords());  // codes 3, 3 and 1
  const MatrixD before = codebook.codewords();
  codebook.Update(problem.cells, 10);
  EXPECT_EQ(codebook.codewords().col(0), before.col(0));
  EXPECT_EQ(codebook.codewords().col(2), before.col(2));
  EXPECT_NE(codebook.codewords().col(1), before.col(1));
  EXPECT_NE(codebook.codewords().col(3), before.col(3));
}

TEST(AffinityCodebook, NoSpreadAtAll) {
  AffinityCodebook codebook(3, 2, 0.0);
  const Problem problem = Assign(MatrixD::Zero(3, 10), codebook.codewords());
  codebook.Update(problem.cells, 10);
  EXPECT_TRUE(codebook.codewords().isZero(0));
  EXPECT_EQ(codebook.Objective(problem.cells, 10), 0);
}

}  // namespace
}  // namespace bitpool
