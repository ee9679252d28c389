#include "bitpool/index/multi_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"
#include "bitpool/codes/binary_codes.h"

namespace bitpool {
namespace {

constexpr int kLengths[] = {1, 7, 8, 31, 32, 33, 64, 65, 128, 200, 256, 512};

enum class Law { kRandom, kClustered, kEqualButOne, kNearDuplicates };
constexpr Law kLaws[] = {Law::kRandom, Law::kClustered, Law::kEqualButOne, Law::kNearDuplicates};

void FlipBit(std::vector<uint8_t>& code, uint64_t bit) {
  code[bit / 8] = static_cast<uint8_t>(code[bit / 8] ^ 1 << (bit % 8));
}

std::vector<uint8_t> RandomCode(Random& random, int bits) {
  std::vector<uint8_t> code(BytesPerCode(bits));
  for (uint8_t& byte : code) byte = static_cast<uint8_t>(random.Next());
  if (bits % 8 != 0) code.back() = static_cast<uint8_t>(code.back() & ((1 << bits % 8) - 1));
  return code;
}

// Draws codes by a law; the same maker makes codes and queries.
class CodeMaker {
 public:
  CodeMaker(int bits, Law law, uint64_t seed) : bits_(bits), law_(law), random_(seed) {
    for (int i = 0; i < 12; ++i) centres_.push_back(RandomCode(random_, bits));
  }

  std::vector<uint8_t> Make(size_t number) {
    if (law_ == Law::kRandom) return RandomCode(random_, bits_);
    if (law_ == Law::kEqualButOne) return centres_[number == 1 ? 1 : 0];
    std::vector<uint8_t> code =
        centres_[law_ == Law::kClustered ? random_.Below(centres_.size()) : 0];
    // Near-duplicates differ in a few bits that lie together, so that one substring takes them all.
    const uint64_t start = random_.Below(static_cast<uint64_t>(bits_));
    for (int i = 0; i < bits_; ++i) {
      const auto bit = static_cast<uint64_t>(i);
      const bool flip = law_ == Law::kClustered ? random_.Below(16) == 0
                                                : bit - start < 6 && random_.Below(2) == 0;
      if (flip) FlipBit(code, bit);
    }
    return code;
  }

  std::vector<uint8_t> MakeRows(size_t count) {
    std::vector<uint8_t> rows;
    for (size_t i = 0; i < count; ++i) {
      const std::vector<uint8_t> code = Make(i);
      rows.insert(rows.end(), code.begin(), code.end());
    }
    return rows;
  }

 private:
  int bits_;
  Law law_;
  Random random_;
  std::vector<std::vector<uint8_t>> centres_;
};

using Filter = std::function<bool(uint32_t)>;

const Filter kAll = [](uint32_t) { return true; };

// Every accepted code, nearest first.
std::vector<Neighbour> SortByDistance(int bits, std::span<const uint8_t> rows,
                                      std::span<const uint8_t> query, const Filter& filter) {
  const size_t bytes = BytesPerCode(bits);
  std::vector<Neighbour> all;
  for (size_t i = 0; i < rows.size() / bytes; ++i) {
    if (!filter(static_cast<uint32_t>(i))) continue;
    all.push_back({.id = static_cast<int64_t>(i),
                   .distance = HammingDistance(rows.subspan(i * bytes, bytes), query)});
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<Neighbour> Search(const MultiIndex& index, std::span<const uint8_t> query, int64_t k,
                              const Filter& filter, MultiIndex::Scratch& scratch) {
  TopK top;
  top.Reset(k, index.bits(), false);
  std::vector<int> shown(index.size(), 0);
  const auto accept = [&](uint32_t position, int32_t distance) {
    EXPECT_LE(distance, top.threshold());
    EXPECT_EQ(++shown[position], 1) << "position " << position << " shown again";
    if (filter(position)) top.Add(position, distance);
  };
  index.Search(query, top, scratch, accept);
  std::vector<Neighbour> best;
  top.Finish(best);
  return best;
}

std::vector<Neighbour> SearchRange(const MultiIndex& index, std::span<const uint8_t> query,
                                   int radius, MultiIndex::Scratch& scratch) {
  std::vector<Neighbour> found;
  const auto accept = [&](uint32_t position, int32_t distance) {
    found.push_back({.id = position, .distance = distance});
  };
  index.RangeSearch(query, radius, scratch, accept);
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<CodePair> FindPairs(const MultiIndex& index, int radius, const RunContext& context) {
  std::vector<CodePair> pairs;
  const auto emit = [&](std::span<const CodePair> some) {
    pairs.insert(pairs.end(), some.begin(), some.end());
  };
  index.FindPairs(radius, context, emit);
  return pairs;
}

std::vector<CodePair> BruteForcePairs(int bits, std::span<const uint8_t> rows, int radius) {
  const size_t bytes = BytesPerCode(bits);
  const auto count = static_cast<uint32_t>(rows.size() / bytes);
  std::vector<CodePair> pairs;
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t j = i + 1; j < count; ++j) {
      const int distance =
          HammingDistance(rows.subspan(i * bytes, bytes), rows.subspan(j * bytes, bytes));
      if (distance <= radius) pairs.push_back({.first = i, .second = j, .distance = distance});
    }
  }
  return pairs;
}

ErrorCode CodeOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::kInternal;
}

void ExpectSearchesEqualSorting(const MultiIndex& index, std::span<const uint8_t> rows,
                                std::span<const uint8_t> query, MultiIndex::Scratch& scratch) {
  const Filter odd = [](uint32_t position) { return position % 2 == 1; };
  for (const Filter& filter : {kAll, odd}) {
    const std::vector<Neighbour> all = SortByDistance(index.bits(), rows, query, filter);
    for (const size_t k : {size_t{0}, size_t{1}, size_t{10}, index.size() + 5}) {
      const std::vector<Neighbour> expected(
          all.begin(), all.begin() + static_cast<ptrdiff_t>(std::min(k, all.size())));
      ASSERT_EQ(Search(index, query, static_cast<int64_t>(k), filter, scratch), expected)
          << "k " << k;
    }
  }
}

TEST(MultiIndex, SearchEqualsSorting) {
  const RunContext context({.threads = 1});
  MultiIndex::Scratch scratch;  // reused, as in a real search
  for (const int bits : kLengths) {
    for (const Law law : kLaws) {
      for (const size_t count : {0, 1, 2, 100, 3000}) {
        SCOPED_TRACE(std::to_string(bits) + " bits, " + std::to_string(count) + " codes, law " +
                     std::to_string(static_cast<int>(law)));
        CodeMaker maker(bits, law, count + 1);
        const std::vector<uint8_t> rows = maker.MakeRows(count);
        const MultiIndex index = MultiIndex::Build(bits, rows, context);
        ASSERT_EQ(index.size(), count);
        for (size_t q = 0; q < (count == 3000 ? 2 : 4); ++q) {
          ExpectSearchesEqualSorting(index, rows, maker.Make(q), scratch);
        }
        ExpectSearchesEqualSorting(index, rows, CodeMaker(bits, law, 99).Make(0), scratch);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Large enough that lookups, not the scan, answer: distances beyond every substring's first radii.
TEST(MultiIndex, LookupsAnswerWithoutReadingMostCodes) {
  const RunContext context({.threads = 1});
  constexpr int kBits = 64;
  constexpr size_t kCount = 60000;
  Random random(4);
  std::vector<uint8_t> rows;
  for (size_t i = 0; i < kCount; ++i) {
    const std::vector<uint8_t> code = RandomCode(random, kBits);
    rows.insert(rows.end(), code.begin(), code.end());
  }
  const MultiIndex index = MultiIndex::Build(kBits, rows, context);
  MultiIndex::Scratch scratch;
  for (int distance = 0; distance <= 12; ++distance) {
    // The query is one of the codes with some bits flipped, all low, all high or spread.
    for (const uint64_t stride : {1, 3, 5, 63}) {
      const size_t target = random.Below(kCount);
      std::vector<uint8_t> query(rows.begin() + static_cast<ptrdiff_t>(target * 8),
                                 rows.begin() + static_cast<ptrdiff_t>(target * 8 + 8));
      for (uint64_t i = 0; i < static_cast<uint64_t>(distance); ++i) {
        FlipBit(query, i * stride % kBits);
      }
      const std::vector<Neighbour> all = SortByDistance(kBits, rows, query, kAll);
      ASSERT_EQ(Search(index, query, 1, kAll, scratch).front(), all.front());
      std::vector<Neighbour> within = all;
      std::erase_if(within, [&](const Neighbour& n) { return n.distance > distance; });
      ASSERT_EQ(SearchRange(index, query, distance, scratch), within);
    }
  }
}

// The callback sees ties with the k-th best whatever it refuses.
TEST(MultiIndex, RefusingEverythingShowsEverything) {
  const RunContext context({.threads = 1});
  CodeMaker maker(64, Law::kClustered, 3);
  const std::vector<uint8_t> rows = maker.MakeRows(3000);
  const MultiIndex index = MultiIndex::Build(64, rows, context);
  TopK top;
  top.Reset(10, 64, false);
  MultiIndex::Scratch scratch;
  size_t shown = 0;
  const auto refuse = [&](uint32_t, int32_t) { ++shown; };
  index.Search(maker.Make(0), top, scratch, refuse);
  EXPECT_EQ(shown, 3000U);
}

TEST(MultiIndex, RangeSearchEqualsSorting) {
  const RunContext context({.threads = 1});
  MultiIndex::Scratch scratch;
  for (const int bits : kLengths) {
    for (const Law law : kLaws) {
      CodeMaker maker(bits, law, 17);
      const std::vector<uint8_t> rows = maker.MakeRows(700);
      const MultiIndex index = MultiIndex::Build(bits, rows, context);
      const std::vector<uint8_t> query = maker.Make(0);
      std::vector<Neighbour> all = SortByDistance(bits, rows, query, kAll);
      for (int radius = bits; radius >= -1; radius -= radius > 24 ? 7 : 1) {
        std::erase_if(all, [&](const Neighbour& n) { return n.distance > radius; });
        ASSERT_EQ(SearchRange(index, query, radius, scratch), all)
            << bits << " bits, radius " << radius;
      }
    }
  }
}

TEST(MultiIndex, PairsEqualBruteForceAtAnyNumberOfThreads) {
  const RunContext one({.threads = 1});
  const RunContext two({.threads = 2});
  for (const int bits : kLengths) {
    for (const Law law : kLaws) {
      const size_t count = law == Law::kEqualButOne ? 60 : 600;
      const std::vector<uint8_t> rows = CodeMaker(bits, law, 23).MakeRows(count);
      const MultiIndex index = MultiIndex::Build(bits, rows, one);
      for (const int radius : {-1, 0, 1, 3, 8}) {
        const std::vector<CodePair> expected = BruteForcePairs(bits, rows, radius);
        ASSERT_EQ(FindPairs(index, radius, one), expected) << bits << " bits, radius " << radius;
        ASSERT_EQ(FindPairs(index, radius, two), expected) << bits << " bits, radius " << radius;
      }
    }
  }
}

TEST(MultiIndex, BuildDoesNotDependOnThreads) {
  const std::vector<uint8_t> rows = CodeMaker(200, Law::kClustered, 5).MakeRows(3000);
  const MultiIndex one = MultiIndex::Build(200, rows, RunContext({.threads = 1}));
  const MultiIndex two = MultiIndex::Build(200, rows, RunContext({.threads = 2}));
  EXPECT_EQ(one.parts().substrings, two.parts().substrings);
  EXPECT_TRUE(std::ranges::equal(one.parts().offsets, two.parts().offsets));
  EXPECT_TRUE(std::ranges::equal(one.parts().positions, two.parts().positions));
}

// Codes and structure together take at most three times the codes.
TEST(MultiIndex, MemoryStaysSmall) {
  constexpr size_t kCount = 1000000;
  std::vector<uint8_t> rows(kCount * 8);
  Random random(8);
  for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random.Next());
  const MultiIndex index = MultiIndex::Build(64, rows, RunContext({.threads = 1}));
  EXPECT_GE(index.parts().substrings, 3);
  EXPECT_LE(index.memory_bytes(), 2 * rows.size());
}

TEST(MultiIndex, RefusesWhatAreNoCodes) {
  const RunContext context({.threads = 1});
  const std::vector<uint8_t> rows(10);
  for (const int bits : {0, -1, 4097, 24}) {
    EXPECT_EQ(CodeOf([&] { MultiIndex::Build(bits, rows, context); }), ErrorCode::kInvalidArgument);
  }
}

// Parts of a small index, to be damaged.
class MultiIndexFromParts : public ::testing::Test {
 protected:
  MultiIndexFromParts()
      : rows_(CodeMaker(64, Law::kClustered, 31).MakeRows(3000)),
        built_(MultiIndex::Build(64, rows_, context_)),
        offsets_(built_.parts().offsets.begin(), built_.parts().offsets.end()),
        positions_(built_.parts().positions.begin(), built_.parts().positions.end()),
        substrings_(built_.parts().substrings),
        key_bits_(built_.parts().key_bits) {}

  MultiIndex Load() const {
    return MultiIndex::FromParts(64, rows_,
                                 {.substrings = substrings_,
                                  .key_bits = key_bits_,
                                  .offsets = offsets_,
                                  .positions = positions_},
                                 context_);
  }
  void ExpectCorrupt() const {
    EXPECT_EQ(CodeOf([&] { Load(); }), ErrorCode::kCorrupt);
  }
  // The first place in the positions where a bucket has two of them.
  size_t FindPairInBucket() const {
    size_t key = 0;
    while (offsets_[key + 1] - offsets_[key] < 2) ++key;
    return offsets_[key];
  }

  RunContext context_{RunOptions{.threads = 1}};
  std::vector<uint8_t> rows_;
  MultiIndex built_;
  std::vector<uint32_t> offsets_;
  std::vector<uint32_t> positions_;
  int substrings_;
  int key_bits_;
};

TEST_F(MultiIndexFromParts, GiveTheSameIndex) {
  const MultiIndex index = Load();
  index.Verify(context_);
  EXPECT_EQ(index.memory_bytes(), built_.memory_bytes());
  CodeMaker maker(64, Law::kClustered, 31);
  MultiIndex::Scratch scratch;
  for (size_t q = 0; q < 20; ++q) {
    ExpectSearchesEqualSorting(index, rows_, maker.Make(q), scratch);
  }
}

TEST_F(MultiIndexFromParts, DamagedOffsetsAreRefused) {
  const std::vector<uint32_t> good = offsets_;
  for (const size_t at : {size_t{0}, good.size() / 2, good.size() - 1}) {
    for (const uint32_t value : {1U << 31, UINT32_MAX, 3001U}) {
      offsets_ = good;
      offsets_[at] = value;
      ExpectCorrupt();
    }
  }
  offsets_ = good;
  offsets_.back() = 2999;
  ExpectCorrupt();
  offsets_ = good;
  offsets_.front() = 1;
  ExpectCorrupt();
  offsets_ = good;
  offsets_.pop_back();
  ExpectCorrupt();
}

TEST_F(MultiIndexFromParts, DamagedPositionsAreRefused) {
  const std::vector<uint32_t> good = positions_;
  for (const size_t at : {size_t{0}, good.size() / 2, good.size() - 1}) {
    for (const uint32_t value : {3000U, UINT32_MAX}) {
      positions_ = good;
      positions_[at] = value;
      ExpectCorrupt();
    }
  }
  positions_ = good;
  positions_.push_back(0);
  ExpectCorrupt();
  positions_ = good;
  const size_t pair = FindPairInBucket();
  std::swap(positions_[pair], positions_[pair + 1]);
  ExpectCorrupt();
  positions_ = good;
  positions_[pair + 1] = positions_[pair];
  ExpectCorrupt();
}

TEST_F(MultiIndexFromParts, ImpossibleLayoutsAreRefused) {
  const int substrings = substrings_;
  for (const int bad : {0, -1, 65, substrings - 1, substrings + 1}) {
    substrings_ = bad;
    ExpectCorrupt();
  }
  substrings_ = substrings;
  for (const int bad : {-1, 25, 40, key_bits_ - 1, key_bits_ + 1}) {
    key_bits_ = bad;
    ExpectCorrupt();
  }
}

TEST_F(MultiIndexFromParts, VerifyFindsACodeUnderAWrongKey) {
  rows_[0] = static_cast<uint8_t>(rows_[0] ^ 1);
  const MultiIndex index = Load();
  EXPECT_EQ(CodeOf([&] { index.Verify(context_); }), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace bitpool
