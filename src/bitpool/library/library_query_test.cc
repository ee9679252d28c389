#include "bitpool/library/library_query.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "bitpool/base/random.h"
#include "bitpool/library/library_testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::FakeEncode;
using testing::FakePicture;
using testing::kFakeBits;
using testing::PictureFolder;
using testing::ToBytes;

// What decides first, then what decides next, then the id. Scores are negated, because they
// descend.
using Ranked = std::tuple<double, double, uint64_t>;

Ranked Rank(QueryOrder order, int distance, double score, uint64_t id) {
  if (order == QueryOrder::kHamming) return {distance, -score, id};
  return {-score, distance, id};
}

std::vector<Ranked> BruteForce(const LibrarySnapshot& library, const PictureCode& query,
                               QueryOrder order, size_t k) {
  std::vector<Ranked> all;
  library.catalogue().ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    if (picture.code.empty()) return;
    int distance = 0;
    double score = 0;
    for (int bit = 0; bit < kFakeBits; ++bit) {
      const auto byte = static_cast<size_t>(bit / 8);
      const bool set = (picture.code[byte] >> (bit % 8) & 1) != 0;
      distance += ((picture.code[byte] ^ query.code[byte]) >> (bit % 8) & 1) != 0 ? 1 : 0;
      score += set ? query.projection[bit] : -query.projection[bit];
    }
    all.push_back(Rank(order, distance, score, picture.id));
  });
  std::sort(all.begin(), all.end(), [&](const Ranked& a, const Ranked& b) {
    if (order == QueryOrder::kHamming || std::get<0>(a) != std::get<0>(b)) return a < b;
    return std::get<2>(a) < std::get<2>(b);
  });
  all.resize(std::min(k, all.size()));
  return all;
}

std::vector<Ranked> Ranks(const std::vector<QueryMatch>& matches, QueryOrder order) {
  std::vector<Ranked> ranks;
  for (const QueryMatch& match : matches) {
    ranks.push_back(Rank(order, match.distance, match.score, match.picture.id));
  }
  return ranks;
}

// Codes of few different bits, so that many are equally far; projections are exact in binary.
TEST(QueryLibrary, IsBruteForceWithTies) {
  PictureFolder pictures;
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    const uint64_t code = random.Next() & random.Next() & 0x0F030000000000F1;
    pictures.Write(fmt::format("{}.jpg", i), i % 50 == 7 ? "bad" : FakePicture(code));
  }
  pictures.Update();
  const LibrarySnapshot library = pictures.Open();
  for (int round = 0; round < 40; ++round) {
    PictureCode query = FakeEncode(ToBytes(FakePicture(random.Next() & 0x0F030000000000FF)));
    for (int bit = 0; bit < kFakeBits; ++bit) {
      // Small whole numbers: ties of the score too.
      query.projection[bit] =
          std::copysign(static_cast<float>(1 + random.Below(3)), query.projection[bit]);
    }
    for (const int64_t k : {1, 2, 7, 20, 293, 294, 295, 1000}) {
      for (const QueryOrder order : {QueryOrder::kScore, QueryOrder::kHamming}) {
        const auto matches =
            QueryLibrary(library, query, {.k = k, .order = order}, RunContext({.threads = 2}));
        EXPECT_EQ(Ranks(matches, order), BruteForce(library, query, order, static_cast<size_t>(k)))
            << k;
      }
    }
  }
}

// Two pictures are equally far; the one whose bit is less sure for the query is nearer, though it
// came later.
TEST(QueryLibrary, TheScoreDecidesAtTheEndOfTheList) {
  PictureFolder pictures;
  pictures.Write("1.jpg", FakePicture(1ULL << 40));
  pictures.Write("2.jpg", FakePicture(1ULL << 50));
  pictures.Write("3.jpg", FakePicture(1ULL << 3));
  pictures.Update();
  const LibrarySnapshot library = pictures.Open();
  const PictureCode query = FakeEncode(ToBytes(FakePicture(0)));
  for (const QueryOrder order : {QueryOrder::kScore, QueryOrder::kHamming}) {
    const auto matches = QueryLibrary(library, query, {.k = 1, .order = order}, RunContext());
    ASSERT_EQ(matches.size(), 1U);
    EXPECT_EQ(matches[0].picture.path, "3.jpg");
    EXPECT_EQ(matches[0].distance, 1);
    EXPECT_EQ(matches[0].score, query.projection.cwiseAbs().sum() - 2 * 0.5);
  }
}

TEST(QueryLibrary, Edges) {
  PictureFolder pictures;
  pictures.Update();
  PictureCode query = FakeEncode(ToBytes(FakePicture(0)));
  EXPECT_TRUE(
      QueryLibrary(pictures.Open(), query, {.k = 5, .order = QueryOrder::kScore}, RunContext())
          .empty());
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Write("b.jpg", FakePicture(2));
  pictures.Update();
  const LibrarySnapshot library = pictures.Open();
  ExpectError(ErrorCode::kInvalidArgument, {"k: expected 1 or more, got 0"}, [&] {
    QueryLibrary(library, query, {.k = 0, .order = QueryOrder::kScore}, RunContext());
  });
  pictures.Remove("a.jpg");  // the snapshot goes on seeing it
  pictures.Update();
  EXPECT_EQ(QueryLibrary(library, query, {.k = 5}, RunContext()).size(), 2U);
  const auto matches = QueryLibrary(pictures.Open(), query, {.k = 5}, RunContext());
  ASSERT_EQ(matches.size(), 1U);
  EXPECT_EQ(matches[0].picture.path, "b.jpg");
  query.projection.conservativeResize(63);
  ExpectError(ErrorCode::kInvalidArgument, {"8 bytes", "63 projections", "64 bits"}, [&] {
    QueryLibrary(library, query, {.k = 5, .order = QueryOrder::kHamming}, RunContext());
  });
}

TEST(QueryById, IsBruteForceWithoutItself) {
  PictureFolder pictures;
  Random random(6);
  for (int i = 0; i < 60; ++i) {
    const uint64_t code = random.Next() & 0x0100000000000007;  // sixteen codes: many are equal
    pictures.Write(fmt::format("{}.jpg", i), i == 7 ? "bad" : FakePicture(code));
  }
  pictures.Update();
  const LibrarySnapshot library = pictures.Open();
  library.catalogue().ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& asked) {
    if (asked.code.empty()) {
      ExpectError(ErrorCode::kNotFound, {"no picture", "with a code"},
                  [&] { QueryById(library, asked.id, {}, RunContext()); });
      return;
    }
    std::vector<std::pair<int, uint64_t>> expected;
    library.catalogue().ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& other) {
      if (other.code.empty() || other.id == asked.id) return;
      expected.emplace_back(HammingDistance(asked.code, other.code), other.id);
    });
    std::ranges::sort(expected);
    for (const size_t k : {1, 5, 58, 59, 1000}) {
      for (const QueryOrder order : {QueryOrder::kScore, QueryOrder::kHamming}) {
        std::vector<std::pair<int, uint64_t>> found;
        for (const QueryMatch& match : QueryById(
                 library, asked.id, {.k = static_cast<int64_t>(k), .order = order}, RunContext())) {
          found.emplace_back(match.distance, match.picture.id);
        }
        auto best = expected;
        best.resize(std::min(k, best.size()));
        ASSERT_EQ(found, best) << k;
      }
    }
  });
  ExpectError(ErrorCode::kNotFound, {"no picture 999"},
              [&] { QueryById(library, 999, {}, RunContext()); });
}

// Each picture once, by the better of its two answers.
TEST(MergeMatches, TakesTheBestOfBoth) {
  const auto match = [](uint64_t id, int distance, double score) {
    QueryMatch one = {.picture = {}, .distance = distance, .mirrored = false, .score = score};
    one.picture.id = id;
    return one;
  };
  const std::vector<QueryMatch> straight = {match(1, 3, 9), match(2, 2, 5), match(3, 1, 2)};
  const std::vector<QueryMatch> mirrored = {match(3, 0, 8), match(1, 3, 9), match(4, 9, 1)};
  const auto merged = [&](const QueryOptions& options) {
    std::vector<std::pair<uint64_t, bool>> found;
    for (const QueryMatch& one : MergeMatches(straight, mirrored, options)) {
      found.emplace_back(one.picture.id, one.mirrored);
    }
    return found;
  };
  using Found = std::vector<std::pair<uint64_t, bool>>;
  EXPECT_EQ(merged({.k = 9}), (Found{{1, false}, {3, true}, {2, false}, {4, true}}));
  EXPECT_EQ(merged({.k = 2}), (Found{{1, false}, {3, true}}));
  EXPECT_EQ(merged({.k = 9, .order = QueryOrder::kHamming}),
            (Found{{3, true}, {2, false}, {1, false}, {4, true}}));
}

}  // namespace
}  // namespace bitpool
