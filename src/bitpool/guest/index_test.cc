// Uses the public headers only, as a guest does.
#include "bitpool/index.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <filesystem>
#include <random>
#include <thread>

#include "bitpool/error.h"

namespace {

constexpr int kBits = 37;
constexpr std::size_t kBytes = 5;

bitpool::Codes RandomCodes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> rows(count * kBytes);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<std::uint8_t>(random() & (i % kBytes == kBytes - 1 ? 0x1F : 0xFF));
  }
  return {kBits, rows};
}

int Distance(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  int distance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    distance += std::popcount(static_cast<unsigned>(a[i] ^ b[i]));
  }
  return distance;
}

// All of (distance, id), by brute force.
std::vector<std::pair<int, std::int64_t>> Ranked(const bitpool::Codes& codes,
                                                 std::span<const std::uint8_t> query) {
  std::vector<std::pair<int, std::int64_t>> all;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    all.emplace_back(Distance(codes[i], query), static_cast<std::int64_t>(i));
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::filesystem::path TestFile(const char* name) {
  return std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + name);
}

TEST(GuestIndex, FindsTheNearestAsBruteForceDoes) {
  const bitpool::Codes codes = RandomCodes(3000, 1), queries = RandomCodes(5, 2);
  bitpool::Index index(kBits);
  EXPECT_EQ(index.Add(codes), 0);
  const bitpool::Hits found = index.Search(queries, 7);
  const bitpool::Hits near = index.SearchRadius(queries, 10);
  ASSERT_EQ(found.size(), 5U);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const auto ranked = Ranked(codes, queries[q]);
    ASSERT_EQ(found[q].size(), 7U);
    for (std::size_t i = 0; i < 7; ++i) {
      EXPECT_EQ(found[q][i].distance, ranked[i].first);
      EXPECT_EQ(found[q][i].id, ranked[i].second);
    }
    const auto within = std::count_if(ranked.begin(), ranked.end(),
                                      [](const auto& one) { return one.first <= 10; });
    EXPECT_EQ(static_cast<std::ptrdiff_t>(near[q].size()), within);
  }
}

TEST(GuestIndex, RealQueriesAreScored) {
  const bitpool::Codes codes = RandomCodes(500, 3);
  bitpool::Index index(kBits);
  index.Add(codes);
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  std::vector<float> weights(kBits);
  for (float& weight : weights) weight = normal(random);
  std::vector<std::pair<double, std::int64_t>> all;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    double score = 0;
    for (int bit = 0; bit < kBits; ++bit) {
      const bool one = ((codes[i][static_cast<std::size_t>(bit / 8)] >> (bit % 8)) & 1) != 0;
      const double weight = weights[static_cast<std::size_t>(bit)];
      score += one ? weight : -weight;
    }
    all.emplace_back(-score, static_cast<std::int64_t>(i));
  }
  std::sort(all.begin(), all.end());
  const bitpool::Hits found = index.SearchReal(bitpool::Vectors(weights, kBits), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found[0][i].id, all[i].second);
    EXPECT_NEAR(found[0][i].score, -all[i].first, 1e-5);
  }
}

TEST(GuestIndex, IdsAreNeverGivenTwice) {
  bitpool::Index index(kBits);
  index.Add(RandomCodes(2, 5), std::vector<std::int64_t>{7, 100});
  EXPECT_TRUE(index.Remove(100));
  EXPECT_FALSE(index.Remove(100));
  EXPECT_EQ(index.Add(RandomCodes(3, 6)), 101);
  EXPECT_TRUE(index.Contains(103));
  EXPECT_EQ(index.size(), 4U);
  EXPECT_THROW(index.Add(RandomCodes(1, 7), std::vector<std::int64_t>{7}), bitpool::Error);
  EXPECT_EQ(index.size(), 4U);
}

TEST(GuestIndex, FewerCodesThanAskedFor) {
  bitpool::Index index(kBits);
  EXPECT_TRUE(index.Search(RandomCodes(1, 8), 5)[0].empty());
  index.Add(RandomCodes(2, 9));
  EXPECT_EQ(index.Search(RandomCodes(1, 8), 5)[0].size(), 2U);
}

TEST(GuestIndex, ReplacedCodesAreFound) {
  const bitpool::Codes codes = RandomCodes(10, 10), other = RandomCodes(1, 11);
  bitpool::Index index(kBits);
  index.Add(codes);
  index.Replace(4, other[0]);
  EXPECT_EQ(index.Search(other, 1)[0][0].id, 4);
  EXPECT_EQ(index.Search(other, 1)[0][0].distance, 0);
}

TEST(GuestIndex, SavedAndOpenedAnswersAlike) {
  const bitpool::Codes codes = RandomCodes(2000, 12), queries = RandomCodes(3, 13);
  bitpool::Index index(kBits);
  index.Add(codes);
  index.Remove(1999);
  const auto path = TestFile("guest.bpi");
  index.Save(path);
  const bitpool::Index opened = bitpool::Index::Open(path);
  std::filesystem::remove(path);
  EXPECT_EQ(opened.size(), 1999U);
  const bitpool::Hits one = index.Search(queries, 20), two = opened.Search(queries, 20);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(one[q][i].id, two[q][i].id);
  }
}

TEST(GuestIndex, IdsAreNeverGivenTwiceAlsoAfterAFile) {
  bitpool::Index index(kBits);
  index.Add(RandomCodes(5, 15));
  index.Remove(4);
  const auto path = TestFile("guest-ids.bpi");
  index.Save(path);
  bitpool::Index opened = bitpool::Index::Open(path);
  EXPECT_EQ(opened.Add(RandomCodes(1, 16)), 5);
  for (const std::int64_t id : {0, 1, 2, 3, 5}) opened.Remove(id);
  opened.Save(path);
  EXPECT_EQ(bitpool::Index::Open(path).Add(RandomCodes(1, 17)), 6);
  std::filesystem::remove(path);
}

TEST(GuestIndex, ErrorsHaveACode) {
  try {
    bitpool::Index::Open("/nowhere/codes.bpi");
    FAIL();
  } catch (const bitpool::Error& error) {
    EXPECT_EQ(error.code(), bitpool::ErrorCode::kNotFound);
    EXPECT_NE(std::string(error.what()).find("codes.bpi"), std::string::npos);
  }
  EXPECT_THROW(bitpool::Index(0), bitpool::Error);
  EXPECT_THROW(bitpool::Codes(12, {0xFF, 0xFF}), bitpool::Error);
}

TEST(GuestIndex, SearchesWhileAnotherThreadAdds) {
  const bitpool::Codes first = RandomCodes(1, 14);
  bitpool::Index index(kBits);
  index.Add(first);
  std::atomic<bool> done = false;
  std::thread adding([&] {
    for (std::uint64_t i = 0; i < 200; ++i) index.Add(RandomCodes(20, 100 + i));
    done = true;
  });
  while (!done) {
    const bitpool::Hits found = index.Search(first, 1);
    ASSERT_EQ(found[0].size(), 1U);
    EXPECT_EQ(found[0][0].distance, 0);
  }
  adding.join();
  EXPECT_EQ(index.size(), 4001U);
}

}  // namespace
