#include "bitpool/index/code_index.h"

#include <atomic>
#include <map>
#include <thread>

#include "bitpool/base/random.h"
#include "bitpool/index/testing.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;

BinaryCodes RandomCodes(Random& random, int bits, size_t count) {
  std::vector<uint8_t> rows(count * BytesPerCode(bits));
  for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random.Next());
  if (bits % 8 != 0) {
    for (size_t last = BytesPerCode(bits) - 1; last < rows.size(); last += BytesPerCode(bits)) {
      rows[last] = static_cast<uint8_t>(rows[last] & ((1 << (bits % 8)) - 1));
    }
  }
  return {bits, rows};
}

// What the index must answer, found the plain way.
class HammingModel {
 public:
  void Put(int64_t id, std::span<const uint8_t> code) { codes_[id] = {code.begin(), code.end()}; }
  void Remove(int64_t id) { codes_.erase(id); }
  bool Has(int64_t id) const { return codes_.count(id) != 0; }
  size_t size() const { return codes_.size(); }
  std::vector<uint8_t> Code(int64_t id) const { return codes_.at(id); }

  std::vector<Neighbour> All(std::span<const uint8_t> query) const {
    std::vector<Neighbour> all;
    for (const auto& [id, code] : codes_) {
      all.push_back({.id = id, .distance = HammingDistance(query, code)});
    }
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::map<int64_t, std::vector<uint8_t>> codes_;
};

void ExpectSameHamming(const CodeIndex& index, const HammingModel& model,
                       const BinaryCodes& queries, int64_t k, const RunContext& context) {
  const SearchResult result = index.Search(queries, k, context);
  for (Index q = 0; q < queries.size(); ++q) {
    std::vector<Neighbour> expected = model.All(queries.code(q));
    expected.resize(static_cast<size_t>(k));  // pads with −1
    const auto got = result.of(q);
    ASSERT_EQ(std::vector<Neighbour>(got.begin(), got.end()), expected)
        << "k " << k << ", query " << q;
  }
}

class CodeIndexTest : public ::testing::TestWithParam<IndexKind> {};

TEST_P(CodeIndexTest, EqualsBruteForceAtEveryLengthAndSize) {
  Random random(1);
  const RunContext two({.threads = 2});
  for (const int bits : {1, 3, 8, 15, 16, 32, 33, 64, 100, 128, 256, 300, 1024}) {
    for (const size_t count : {0, 1, 63, 64, 65, 500, 4500}) {
      const BinaryCodes codes = RandomCodes(random, bits, count);
      CodeIndex index({.bits = bits, .kind = GetParam()});
      HammingModel model;
      const std::vector<int64_t> ids = Count(count, 10);
      index.Add(codes, ids);
      for (size_t i = 0; i < count; ++i) model.Put(ids[i], codes.code(static_cast<Index>(i)));
      const BinaryCodes queries = RandomCodes(random, bits, 9);
      for (const int64_t k : {0, 1, 10, 600}) {
        ExpectSameHamming(index, model, queries, k, OneThread());
        ExpectSameHamming(index, model, queries, k, two);
      }
    }
  }
}

TEST_P(CodeIndexTest, ManyCodesAreSplitOverThreadsWithTheSameResult) {
  Random random(2);
  const size_t count = 300000;                               // several slabs
  const BinaryCodes codes = RandomCodes(random, 24, count);  // short: many ties
  CodeIndex index({.bits = 24, .kind = GetParam()});
  index.Add(codes, Count(count));
  const BinaryCodes queries = RandomCodes(random, 24, 40);
  const SearchResult one = index.Search(queries, 25, OneThread());
  for (const int threads : {2, 3}) {
    const RunContext context({.threads = threads});
    EXPECT_EQ(index.Search(queries, 25, context).neighbours, one.neighbours);
    const BinaryCodes single(24, {queries.code(3).begin(), queries.code(3).end()});
    const auto got = index.Search(single, 25, context).neighbours;
    EXPECT_EQ(got, (std::vector<Neighbour>(one.of(3).begin(), one.of(3).end())));
  }
  std::vector<Neighbour> expected;
  for (size_t i = 0; i < count; ++i) {
    expected.push_back(
        {.id = static_cast<int64_t>(i),
         .distance = HammingDistance(queries.code(7), codes.code(static_cast<Index>(i)))});
  }
  std::partial_sort(expected.begin(), expected.begin() + 25, expected.end());
  expected.resize(25);
  EXPECT_EQ((std::vector<Neighbour>(one.of(7).begin(), one.of(7).end())), expected);
}

TEST_P(CodeIndexTest, RandomChangesKeepItRight) {
  for (const int bits : {12, 64}) {
    Random random(static_cast<uint64_t>(bits));
    CodeIndex index({.bits = bits, .kind = GetParam()});
    HammingModel model;
    for (int step = 0; step < 600; ++step) {
      const uint64_t action = random.Below(10);
      const auto id = static_cast<int64_t>(random.Below(400));
      const BinaryCodes code = RandomCodes(random, bits, 1);
      if (action < 3) {
        EXPECT_EQ(index.Remove(id), model.Has(id));
        model.Remove(id);
      } else if (action < 6) {
        index.Replace(id, code.code(0));
        model.Put(id, code.code(0));
      } else {
        // A batch of new ids in no order.
        std::vector<int64_t> ids;
        for (int64_t other : {id, id + 7, id + 3, id + 1000}) {
          if (!model.Has(other)) ids.push_back(other);
        }
        const BinaryCodes batch = RandomCodes(random, bits, ids.size());
        index.Add(batch, ids);
        for (size_t i = 0; i < ids.size(); ++i)
          model.Put(ids[i], batch.code(static_cast<Index>(i)));
      }
      ASSERT_EQ(index.size(), static_cast<Index>(model.size()));
      ASSERT_EQ(index.Contains(id), model.Has(id));
      if (step % 10 == 0)
        ExpectSameHamming(index, model, RandomCodes(random, bits, 3), 7, OneThread());
    }
    ExpectSameHamming(index, model, RandomCodes(random, bits, 20), 50, OneThread());
  }
}

TEST_P(CodeIndexTest, RangeSearchFindsAllWithinTheRadius) {
  Random random(4);
  const BinaryCodes codes = RandomCodes(random, 20, 2000);
  CodeIndex index({.bits = 20, .kind = GetParam()});
  HammingModel model;
  index.Add(codes, Count(2000));
  for (Index i = 0; i < 2000; ++i) model.Put(i, codes.code(i));
  index.Remove(17);
  model.Remove(17);
  const BinaryCodes queries = RandomCodes(random, 20, 4);
  for (const int radius : {0, 3, 10, 20, 100}) {
    for (const int threads : {1, 2}) {
      const auto found = index.RangeSearch(queries, radius, RunContext({.threads = threads}));
      for (Index q = 0; q < 4; ++q) {
        std::vector<Neighbour> expected = model.All(queries.code(q));
        std::erase_if(expected, [&](const Neighbour& n) { return n.distance > radius; });
        EXPECT_EQ(found[static_cast<size_t>(q)], expected) << radius;
      }
    }
  }
}

TEST_P(CodeIndexTest, AllEqualCodesComeInTheOrderOfTheirIds) {
  CodeIndex index({.bits = 64, .kind = GetParam()});
  std::vector<int64_t> ids = Count(10000, 5);
  std::reverse(ids.begin(), ids.end());
  index.Add(BinaryCodes(64, std::vector<uint8_t>(80000, 0xaa)), ids);
  index.Replace(2, std::vector<uint8_t>(8, 0xaa));  // a later segment with a smaller id
  const SearchResult result =
      index.Search(BinaryCodes(64, std::vector<uint8_t>(8, 0xab)), 4, OneThread());
  EXPECT_EQ(result.neighbours, (std::vector<Neighbour>{{2, 8}, {5, 8}, {6, 8}, {7, 8}}));
}

TEST_P(CodeIndexTest, RefusesWhatHasNoMeaning) {
  ExpectError(ErrorCode::kInvalidArgument, {"0 bits"}, [] { CodeIndex({.bits = 0}); });
  CodeIndex index({.bits = 16, .kind = GetParam()});
  const BinaryCodes two(16, {1, 2, 3, 4});
  ExpectError(ErrorCode::kInvalidArgument, {"1 ids for 2 codes"},
              [&] { index.Add(two, std::vector<int64_t>{1}); });
  ExpectError(ErrorCode::kInvalidArgument, {"id 4 appears twice"}, [&] {
    index.Add(two, std::vector<int64_t>{4, 4});
  });
  ExpectError(ErrorCode::kInvalidArgument, {"id -1"}, [&] {
    index.Add(two, std::vector<int64_t>{3, -1});
  });
  index.Add(two, std::vector<int64_t>{3, 4});
  ExpectError(ErrorCode::kInvalidArgument, {"id 4 is in the index"}, [&] {
    index.Add(two, std::vector<int64_t>{9, 4});
  });
  EXPECT_FALSE(index.Contains(9));
  ExpectError(ErrorCode::kInvalidArgument, {"8 bits", "16"},
              [&] { index.Search(BinaryCodes(8), 1, OneThread()); });
  ExpectError(ErrorCode::kInvalidArgument, {"k = -1"}, [&] { index.Search(two, -1, OneThread()); });
  ExpectError(ErrorCode::kInvalidArgument, {"radius -1"},
              [&] { index.RangeSearch(two, -1, OneThread()); });
  EXPECT_FALSE(index.Remove(77));
}

// Every id has the code of its current round in all 64 bits; a search that sees a moment finds each
// id once, and ids added together come together.
TEST_P(CodeIndexTest, SearchesSeeOneMomentWhileOthersChange) {
  CodeIndex index({.bits = 8, .kind = GetParam()});
  const auto same = [](uint8_t value, size_t count) {
    return BinaryCodes(8, std::vector<uint8_t>(count, value));
  };
  index.Add(same(0, 10), Count(10));
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int round = 1; round <= 60; ++round) {
      const int64_t first = 10 * round;
      index.Add(same(0, 10), Count(10, first));  // ten at once
      index.Replace(
          3, std::vector<uint8_t>(1, static_cast<uint8_t>(round)));  // never missing, never twice
      index.Remove(first);
      index.Add(same(0, 1), std::vector<int64_t>{first});
    }
    done = true;
  });
  int64_t rounds = 0;
  while (!done || rounds == 0) {
    const SearchResult result = index.Search(same(0, 1), 2000, OneThread());
    std::map<int64_t, int> seen;
    for (const Neighbour& neighbour : result.neighbours) {
      if (neighbour.id >= 0) ++seen[neighbour.id];
    }
    for (const auto& [id, times] : seen) ASSERT_EQ(times, 1) << id;
    ASSERT_EQ(seen.count(3), 1U);
    // All of a batch or nothing (its first id comes and goes).
    for (int64_t first = 10; first <= 600; first += 10) {
      size_t present = 0;
      for (int64_t id = first + 1; id < first + 10; ++id) present += seen.count(id);
      ASSERT_TRUE(present == 0 || present == 9) << first;
    }
    ++rounds;
  }
  writer.join();
  EXPECT_EQ(index.size(), 610);
}

// One change is one moment, and a snapshot goes on seeing what it saw.
TEST_P(CodeIndexTest, ASnapshotKeepsItsMoment) {
  Random random(6);
  CodeIndex index({.bits = 32, .kind = GetParam()});
  HammingModel model;
  const BinaryCodes codes = RandomCodes(random, 32, 6000);
  index.Add(codes, Count(6000));
  for (Index i = 0; i < 6000; ++i) model.Put(i, codes.code(i));
  struct Kept {
    IndexSnapshot snapshot;
    HammingModel model;
  };
  std::vector<Kept> kept = {{index.Snapshot(), model}};
  int64_t next = 6000;
  for (int round = 0; round < 12; ++round) {
    std::vector<int64_t> removed = {-5, next + 1000};  // neither is there
    for (int i = 0; i < 300; ++i) removed.push_back(static_cast<int64_t>(random.Below(6000)));
    const BinaryCodes added = RandomCodes(random, 32, 50);
    std::vector<int64_t> ids = Count(49, next);
    ids.push_back(removed.back());  // comes again with another code
    next += 49;
    size_t going = 0;
    for (const int64_t id : removed) {
      going += model.Has(id) ? 1 : 0;
      model.Remove(id);
    }
    for (Index i = 0; i < 50; ++i) model.Put(ids[static_cast<size_t>(i)], added.code(i));
    EXPECT_EQ(index.Change(removed, added, ids), going);
    kept.push_back({index.Snapshot(), model});
  }
  const BinaryCodes queries = RandomCodes(random, 32, 3);
  std::vector<uint8_t> code(4);
  for (const auto& [snapshot, then] : kept) {
    ASSERT_EQ(snapshot.size(), static_cast<Index>(then.size()));
    EXPECT_EQ(snapshot.Compacted()->size(), then.size());
    const SearchResult result = snapshot.Search(queries, 40, OneThread());
    const auto range = snapshot.RangeSearch(queries, 9, OneThread());
    for (Index q = 0; q < queries.size(); ++q) {
      std::vector<Neighbour> expected = then.All(queries.code(q));
      std::vector<Neighbour> near = expected;
      std::erase_if(near, [](const Neighbour& n) { return n.distance > 9; });
      EXPECT_EQ(range[static_cast<size_t>(q)], near);
      expected.resize(40);
      EXPECT_EQ(std::vector<Neighbour>(result.of(q).begin(), result.of(q).end()), expected);
    }
    for (int64_t id = 0; id < next; id += 17) {
      ASSERT_EQ(snapshot.CopyCode(id, code), then.Has(id));
      ASSERT_EQ(snapshot.Contains(id), then.Has(id));
      if (then.Has(id)) {
        ASSERT_EQ(code, then.Code(id));
      }
    }
  }
}

TEST_P(CodeIndexTest, ARefusedChangeChangesNothing) {
  CodeIndex index({.bits = 8, .kind = GetParam()});
  index.Add(BinaryCodes(8, {1, 2, 3}), std::vector<int64_t>{1, 2, 3});
  ExpectError(ErrorCode::kInvalidArgument, {"id 3 is in the index"}, [&] {
    index.Change(std::vector<int64_t>{1, 2}, BinaryCodes(8, {7, 7}), std::vector<int64_t>{2, 3});
  });
  EXPECT_EQ(index.size(), 3);
  EXPECT_TRUE(index.Contains(1));
  EXPECT_EQ(index.Change(std::vector<int64_t>{1, 1, 9}, BinaryCodes(8), {}), 1U);
  EXPECT_EQ(index.size(), 2);
}

// Tables of clustered codes with duplicates, which uniform codes of this length do not have.
TEST_P(CodeIndexTest, ClusteredCodesWithDuplicates) {
  Random random(9);
  const BinaryCodes centres = RandomCodes(random, 64, 40);
  BinaryCodes codes(64);
  std::vector<int64_t> ids;
  HammingModel model;
  for (int64_t i = 0; i < 30000; ++i) {
    std::vector<uint8_t> code(centres.code(i % 40).begin(), centres.code(i % 40).end());
    if (random.Below(3) != 0) code[random.Below(8)] ^= static_cast<uint8_t>(1 << random.Below(8));
    codes.Append(code);
    ids.push_back((i * 7919) % 100003);
    model.Put(ids.back(), code);
  }
  CodeIndex index({.bits = 64, .kind = GetParam()});
  index.Add(codes, ids);
  for (int64_t i = 0; i < 30000; i += 5) {
    index.Remove(ids[static_cast<size_t>(i)]);
    model.Remove(ids[static_cast<size_t>(i)]);
  }
  BinaryCodes queries = RandomCodes(random, 64, 2);
  for (Index c = 0; c < 4; ++c) queries.Append(centres.code(c));
  for (const int64_t k : {1, 10, 700, 1500})
    ExpectSameHamming(index, model, queries, k, OneThread());
  const auto range = index.RangeSearch(queries, 2, OneThread());
  for (Index q = 0; q < queries.size(); ++q) {
    std::vector<Neighbour> expected = model.All(queries.code(q));
    std::erase_if(expected, [](const Neighbour& n) { return n.distance > 2; });
    EXPECT_EQ(range[static_cast<size_t>(q)], expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, CodeIndexTest,
                         ::testing::Values(IndexKind::kFlat, IndexKind::kMultiIndex,
                                           IndexKind::kAuto));

}  // namespace
}  // namespace bitpool
