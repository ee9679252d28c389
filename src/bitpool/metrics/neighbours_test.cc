#include "bitpool/metrics/neighbours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// By the definition, in double precision.
Neighbours BruteForce(const MatrixF& database, const MatrixF& queries, Index k) {
  Neighbours result{.k = k, .ids = {}, .squared_distances = {}};
  for (Index query = 0; query < queries.cols(); ++query) {
    std::vector<std::pair<double, int32_t>> all;
    for (Index i = 0; i < database.cols(); ++i) {
      double distance = 0;
      for (Index row = 0; row < database.rows(); ++row) {
        const double d =
            static_cast<double>(database(row, i)) - static_cast<double>(queries(row, query));
        distance += d * d;
      }
      all.emplace_back(distance, static_cast<int32_t>(i));
    }
    std::sort(all.begin(), all.end());
    for (Index i = 0; i < k; ++i) {
      result.ids.push_back(all[static_cast<size_t>(i)].second);
      result.squared_distances.push_back(static_cast<float>(all[static_cast<size_t>(i)].first));
    }
  }
  return result;
}

void ExpectExact(const MatrixF& database, const MatrixF& queries, Index k,
                 const std::string& what) {
  const Neighbours expected = BruteForce(database, queries, k);
  for (const int threads : {1, 4}) {
    const Neighbours got = FindNeighbours(CopiedColumns(database), MatrixColumns(queries), k,
                                          RunContext({.threads = threads}));
    EXPECT_EQ(got.k, k);
    EXPECT_EQ(got.ids, expected.ids) << what << " k " << k << " threads " << threads;
    ASSERT_EQ(got.squared_distances.size(), expected.squared_distances.size());
    for (size_t i = 0; i < got.ids.size(); ++i) {
      ASSERT_FLOAT_EQ(got.squared_distances[i], expected.squared_distances[i]);
    }
  }
}

MatrixF SmallNumbers(Random& random, Index rows, Index cols) {
  MatrixF matrix(rows, cols);
  for (float& value : matrix.reshaped()) value = static_cast<float>(random.Below(4));
  return matrix;
}

TEST(FindNeighbours, AgreesWithBruteForce) {
  Random random(1);
  struct Case {
    Index dimension, database, queries, k;
  };
  for (const auto& [dimension, size, query_count, k] :
       {Case{1, 1, 1, 1}, Case{1, 300, 20, 300}, Case{1, 300, 5, 7}, Case{16, 2500, 300, 1},
        Case{16, 2500, 130, 10}, Case{33, 700, 3, 700}, Case{7, 3000, 4, 1500}}) {
    const MatrixF database = random.NormalMatrix(dimension, size);
    const MatrixF queries = random.NormalMatrix(dimension, query_count);
    ExpectExact(database, queries, k, "normal");
    ExpectExact(database.array() + 1e6F, queries.array() + 1e6F, k, "far from the origin");
  }
}

TEST(FindNeighbours, EqualDistancesAreInTheOrderOfTheirNumbers) {
  Random random(2);
  const MatrixF half = SmallNumbers(random, 3, 600);
  const MatrixF queries = SmallNumbers(random, 3, 20);
  MatrixF database(3, 1200);
  database << half, half;
  for (const float shift : {0.0F, 4096.0F}) {
    for (const Index k : {1, 10, 100, 1200}) {
      ExpectExact(database.array() + shift, queries.array() + shift, k, "small numbers");
    }
  }
  ExpectExact(MatrixF::Ones(4, 900), MatrixF::Ones(4, 2), 5, "all the same");
}

// Orders and scales for which a careless bound would lose neighbours, or keep everything.
TEST(FindNeighbours, HardCases) {
  Random random(3);
  MatrixF nearing(2, 3000);  // every column is nearer than those before
  for (Index i = 0; i < 3000; ++i) nearing.col(i).setConstant(static_cast<float>(3000 - i));
  ExpectExact(nearing, MatrixF::Zero(2, 1), 40, "nearing");
  MatrixF outlier = random.NormalMatrix(8, 2000);
  outlier.col(3) *= 1e15F;
  ExpectExact(outlier, random.NormalMatrix(8, 10), 20, "outlier");
  // Differences that single precision does not see in the products.
  MatrixF close = MatrixF::Constant(64, 1500, 1000);
  close += 1e-3F * random.NormalMatrix(64, 1500);
  MatrixF apart = close.leftCols(10);
  apart.rightCols(5).array() -= 2000;
  ExpectExact(close, apart, 15, "close");
  // Products that are too small for a float.
  const MatrixF tiny = 2e-23F * random.NormalMatrix(64, 800);
  ExpectExact(tiny, tiny.leftCols(7), 30, "tiny");
  ExpectExact(random.NormalMatrix(4, 500), 1e4F * random.NormalMatrix(4, 5), 9, "far queries");
}

TEST(FindNeighbours, GoesThroughManyStripes) {
  Random random(4);
  const MatrixF database = random.NormalMatrix(1, 150000);
  ExpectExact(database, random.NormalMatrix(1, 3), 500, "stripes");
}

TEST(FindNeighbours, RefusesBadData) {
  MatrixF database = MatrixF::Zero(2, 3000), queries = MatrixF::Zero(2, 200);
  const auto refusal = [&](Index k) {
    return RefusalOf(
        [&] { FindNeighbours(MatrixColumns(database), MatrixColumns(queries), k, RunContext()); });
  };
  EXPECT_EQ(refusal(3000), "(no error)");
  EXPECT_THAT(refusal(0), HasSubstr("expected 1 to 3000"));
  EXPECT_THAT(refusal(3001), HasSubstr("got 3001"));
  database(1, 2500) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(refusal(1), HasSubstr("database: column 2500, row 1"));
  database(1, 2500) = 1e25F;
  EXPECT_THAT(refusal(1), HasSubstr("database: vector 2500: its values are too large"));
  database(1, 2500) = 0;
  queries(0, 150) = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(refusal(1), HasSubstr("queries: column 150, row 0"));
  queries(0, 150) = 3e38F;
  EXPECT_THAT(refusal(1), HasSubstr("queries: vector 150: its values are too large"));
  queries = MatrixF::Constant(2, 1, 3e38F);  // from whose mean every vector is far
  EXPECT_THAT(refusal(1), HasSubstr("queries: vector 0: its values are too large"));
  queries = MatrixF::Zero(3, 1);
  EXPECT_THAT(refusal(1), HasSubstr("has 2 dimensions, the queries have 3"));
  queries = MatrixF::Zero(2, 0);
  EXPECT_EQ(refusal(1), "(no error)");
}

TEST(Neighbours, BecomeGroundTruth) {
  const Neighbours neighbours{
      .k = 3, .ids = {4, 0, 2, 1, 3, 0}, .squared_distances = std::vector<float>(6)};
  const ListedTruth truth = neighbours.Truth(5, 2);
  EXPECT_EQ(truth.database_size(), 5);
  EXPECT_EQ(truth.query_count(), 2);
  EXPECT_THAT(truth.relevant(0), ElementsAre(0, 4));
  EXPECT_THAT(truth.relevant(1), ElementsAre(1, 3));
  EXPECT_THAT(RefusalOf([&] { neighbours.Truth(5, 4); }), HasSubstr("expected 1 to 3, got 4"));
}

}  // namespace
}  // namespace bitpool
