#include "bitpool/codes/asymmetric_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/codes/hamming_scan.h"
#include "bitpool/codes/testing.h"

namespace bitpool {
namespace {

constexpr size_t kScannedCodes = 5 * kBlockCodes;

// Weights as encoders give them, and as nobody would.
constexpr int kLaws = 9;
float DrawWeight(Random& random, int law, int bit) {
  const auto normal = static_cast<float>(random.Normal());
  switch (law) {
    case 0:
      return normal;
    case 1:
      return random.Below(2) == 0 ? 1.0F : -1.0F;  // Hamming: many ties
    case 2:
      return 0;
    case 3:
      return bit % 5 == 0 ? normal : -0.0F;
    case 4:
      return normal * 1e30F;
    case 5:
      return normal * 1e-30F;
    case 6:
      return normal * std::numeric_limits<float>::denorm_min() * 20;
    case 7:
      return normal / static_cast<float>(1 + bit);  // descending, as for principal components
    default:
      return bit % 7 == 3 ? normal * 1e30F : normal * 1e-30F;
  }
}

MatrixF DrawWeights(Random& random, int law, int bits, Index count) {
  MatrixF weights(bits, count);
  for (Index q = 0; q < count; ++q) {
    for (int i = 0; i < bits; ++i) weights(i, q) = DrawWeight(random, law, i);
  }
  return weights;
}

// Random codes, and codes near the signs of the first query.
std::vector<uint8_t> DrawCodeRows(Random& random, size_t count, int bits, const uint8_t* signs) {
  const size_t bytes = BytesPerCode(bits);
  std::vector<uint8_t> rows(count * bytes);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t kind = random.Below(6);
    for (size_t j = 0; j < bytes; ++j) {
      const uint64_t few = random.Next() & random.Next() & random.Next();
      rows[i * bytes + j] = static_cast<uint8_t>(kind == 0   ? signs[j]
                                                 : kind == 1 ? ~uint64_t{signs[j]}
                                                 : kind == 2 ? signs[j] ^ few
                                                             : random.Next());
    }
    if (bits % 8 != 0) rows[(i + 1) * bytes - 1] &= static_cast<uint8_t>((1 << (bits % 8)) - 1);
  }
  return rows;
}

AlignedBytes ToAlignedBlocks(std::span<const uint8_t> rows, size_t bytes) {
  const size_t blocks = rows.size() / BlockBytes(bytes);
  AlignedBytes packed(rows.size());
  for (size_t b = 0; b < blocks; ++b) {
    PackBlock(rows.subspan(b * BlockBytes(bytes), BlockBytes(bytes)), bytes,
              packed.data() + b * BlockBytes(bytes));
  }
  return packed;
}

// The definition.
double PlainScore(const MatrixF& weights, Index query, std::span<const uint8_t> code) {
  double sum = 0;
  for (Index i = 0; i < weights.rows(); ++i) {
    const double h = weights(i, query);
    sum += (code[static_cast<size_t>(i) / 8] >> (i % 8) & 1) != 0 ? h : -h;
  }
  return sum;
}

std::vector<double> PlainScores(const MatrixF& weights, Index query,
                                std::span<const uint8_t> rows) {
  const size_t bytes = BytesPerCode(static_cast<int>(weights.rows()));
  std::vector<double> scores;
  for (size_t i = 0; i < rows.size(); i += bytes)
    scores.push_back(PlainScore(weights, query, rows.subspan(i, bytes)));
  return scores;
}

constexpr int kLengths[] = {1,  3,   4,   7,   8,   9,   16,  31,  32,  63,  64,   65,
                            96, 128, 200, 255, 256, 257, 264, 300, 512, 777, 1024, 4096};

TEST(RealQueries, ScoresAreThoseOfTheDefinition) {
  Random random(1);
  for (const int bits : kLengths) {
    for (int law = 0; law < kLaws; ++law) {
      const MatrixF weights = DrawWeights(random, law, bits, 2);
      const RealQueries queries(weights);
      ASSERT_EQ(queries.size(), 2U);
      ASSERT_EQ(queries.bits(), bits);
      const BinaryCodes signs = BinaryCodes::FromSigns(weights);
      for (const size_t count : {0, 1, 7, 8, 21}) {
        const auto rows = DrawCodeRows(random, count, bits, signs.code(0).data());
        for (const Index q : {0, 1}) {
          std::vector<double> scores(count);
          queries.Score(static_cast<size_t>(q), rows, scores.data());
          ASSERT_EQ(scores, PlainScores(weights, q, rows)) << bits << " bits, law " << law;
        }
      }
      for (const Index q : {0, 1}) {
        const auto query = static_cast<size_t>(q);
        const auto sign_code = signs.code(q);
        ASSERT_TRUE(std::equal(sign_code.begin(), sign_code.end(), queries.code(query)));
        ASSERT_EQ(queries.best_score(query), PlainScore(weights, q, sign_code));
      }
    }
  }
}

TEST(RealQueries, RefusesWhatHasNoScore) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    MatrixF weights = MatrixF::Ones(9, 5);
    weights(7, 3) = bad;
    try {
      const RealQueries queries(weights);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find("query 3"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(RealQueries(MatrixF(0, 1)), Error);
  EXPECT_THROW(RealQueries(MatrixF::Zero(kMaxBits + 1, 1)), Error);
}

struct Found {
  std::vector<uint32_t> hits;
};

std::vector<Found> ScanAll(const AlignedBytes& blocks, std::span<const PenaltyBound> bounds) {
  std::vector<Found> found(bounds.size());
  std::vector<RealScanRequest> requests;
  for (size_t q = 0; q < bounds.size(); ++q) {
    found[q].hits.resize(kScannedCodes);
    requests.push_back({.bound = &bounds[q], .hits = found[q].hits.data(), .hit_count = 99});
  }
  ScanRealBlocks(blocks.data(), kScannedCodes / kBlockCodes, requests);
  for (size_t q = 0; q < bounds.size(); ++q) found[q].hits.resize(requests[q].hit_count);
  return found;
}

// Every code that reaches a score is found, in order, whatever the bound went through before.
TEST(AsymmetricScan, NoTargetMissesACode) {
  ForEachTarget([](const std::string& target) {
    Random random(2);
    for (const int bits : kLengths) {
      for (int law = 0; law < kLaws; ++law) {
        const size_t group = 1 + random.Below(kRealScanGroup);
        const MatrixF weights = DrawWeights(random, law, bits, static_cast<Index>(group));
        const RealQueries queries(weights);
        const auto rows = DrawCodeRows(random, kScannedCodes, bits, queries.code(0));
        const AlignedBytes blocks = ToAlignedBlocks(rows, queries.bytes_per_code());
        std::vector<PenaltyBound> bounds(group);
        std::vector<std::vector<double>> scores, sorted;
        for (size_t q = 0; q < group; ++q) {
          scores.push_back(PlainScores(weights, static_cast<Index>(q), rows));
          sorted.push_back(scores.back());
          std::sort(sorted.back().begin(), sorted.back().end());
        }
        for (size_t rank = 0; rank < kScannedCodes; rank += 1 + random.Below(kScannedCodes / 4)) {
          for (size_t q = 0; q < group; ++q) bounds[q].RuleOutBelow(sorted[q][rank], queries, q);
          const std::vector<Found> found = ScanAll(blocks, bounds);
          for (size_t q = 0; q < group; ++q) {
            ASSERT_TRUE(std::is_sorted(found[q].hits.begin(), found[q].hits.end()));
            for (uint32_t i = 0; i < kScannedCodes; ++i) {
              if (scores[q][i] < sorted[q][rank]) continue;
              ASSERT_TRUE(std::binary_search(found[q].hits.begin(), found[q].hits.end(), i))
                  << target << ", " << bits << " bits, law " << law << ", query " << q << ", score "
                  << scores[q][i];
            }
          }
        }
      }
    }
  });
}

// Without this test, a bound that lets everything through would pass.
TEST(AsymmetricScan, MostCodesAreRuledOut) {
  ForEachTarget([](const std::string& target) {
    Random random(3);
    for (const int bits : {8, 32, 64, 128, 256, 264, 512, 1024, 4096}) {
      for (const int law : {0, 1, 4, 5}) {
        const MatrixF weights = DrawWeights(random, law, bits, 1);
        const RealQueries queries(weights);
        std::vector<uint8_t> rows(kScannedCodes * queries.bytes_per_code());
        for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random.Next());
        const AlignedBytes blocks = ToAlignedBlocks(rows, queries.bytes_per_code());
        std::vector<double> sorted = PlainScores(weights, 0, rows);
        std::sort(sorted.rbegin(), sorted.rend());
        const size_t rank = kScannedCodes / 20;
        const auto reached = static_cast<size_t>(
            std::upper_bound(sorted.begin(), sorted.end(), sorted[rank], std::greater<>()) -
            sorted.begin());
        std::vector<PenaltyBound> bounds(1);
        bounds[0].RuleOutBelow(sorted[rank], queries, 0);
        EXPECT_LE(ScanAll(blocks, bounds)[0].hits.size(), 8 * reached + 8)
            << target << ", " << bits << " bits, law " << law;
      }
    }
  });
}

TEST(AsymmetricScan, BoundsThatNeedNoTables) {
  const MatrixF weights = MatrixF::Ones(16, 2);
  const RealQueries queries(weights);
  const AlignedBytes blocks = ToAlignedBlocks(std::vector<uint8_t>(kScannedCodes * 2), 2);
  std::vector<PenaltyBound> bounds(2);
  bounds[1].RuleOutAll();
  std::vector<Found> found = ScanAll(blocks, bounds);
  EXPECT_EQ(found[0].hits.size(), kScannedCodes);
  EXPECT_EQ(found[0].hits.back(), kScannedCodes - 1);
  EXPECT_TRUE(found[1].hits.empty());
  bounds[0].RuleOutBelow(-15, queries, 0);  // the codes of zeros have −16
  bounds[1].RuleOutBelow(-16, queries, 1);
  found = ScanAll(blocks, bounds);
  EXPECT_TRUE(found[0].hits.empty());
  EXPECT_EQ(found[1].hits.size(), kScannedCodes);
  bounds[0].Reset();
  EXPECT_EQ(ScanAll(blocks, bounds)[0].hits.size(), kScannedCodes);
  ScanRealBlocks(nullptr, 0, {});
}

// A thread keeps its bounds from one search to the next.
TEST(AsymmetricScan, ABoundIsUsedAgainForCodesOfAnotherLength) {
  Random random(4);
  std::vector<PenaltyBound> bounds(1);
  for (const int bits : {512, 64, 1024, 8, 256}) {
    const MatrixF weights = DrawWeights(random, 0, bits, 1);
    const RealQueries queries(weights);
    const auto rows = DrawCodeRows(random, kScannedCodes, bits, queries.code(0));
    const std::vector<double> scores = PlainScores(weights, 0, rows);
    const double most = *std::max_element(scores.begin(), scores.end());
    bounds[0].Reset();
    for (const double score : {-most, 0.0, most}) bounds[0].RuleOutBelow(score, queries, 0);
    const Found found = ScanAll(ToAlignedBlocks(rows, queries.bytes_per_code()), bounds)[0];
    EXPECT_LT(found.hits.size(), kScannedCodes / 2) << bits;
    for (const uint32_t i : found.hits) EXPECT_LT(i, kScannedCodes);
    EXPECT_TRUE(std::any_of(found.hits.begin(), found.hits.end(),
                            [&](uint32_t i) { return scores[i] == most; }));
  }
}

}  // namespace
}  // namespace bitpool
