#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"
#include "bitpool/index/code_index.h"

namespace bitpool {
namespace {

// Codes around few centres, some of them equal, under ids in no order.
struct Clustered {
  Clustered() : codes(32) {
    Random random(5);
    std::vector<std::vector<uint8_t>> centres(15, std::vector<uint8_t>(4));
    for (auto& centre : centres) {
      for (uint8_t& byte : centre) byte = static_cast<uint8_t>(random.Next());
    }
    for (int64_t i = 0; i < 400; ++i) {
      std::vector<uint8_t> code = centres[random.Below(15)];
      for (uint64_t flips = random.Below(4); flips > 0; --flips) {
        const uint64_t bit = random.Below(32);
        code[bit / 8] = static_cast<uint8_t>(code[bit / 8] ^ 1 << (bit % 8));
      }
      codes.Append(code);
      ids.push_back((i * 7919) % 100003);
    }
  }
  BinaryCodes codes;
  std::vector<int64_t> ids;
};

TEST(CodePairs, EveryPairOnceAndGroupsThatHangTogether) {
  const Clustered data;
  const RunContext context({.threads = 2});
  for (const IndexKind kind : {IndexKind::kFlat, IndexKind::kMultiIndex}) {
    CodeIndex index({.bits = 32, .kind = kind});
    index.Add(data.codes, data.ids);
    for (const int radius : {0, 1, 3, 6}) {
      std::set<std::tuple<int64_t, int64_t, int32_t>> expected;
      for (Index i = 0; i < 400; ++i) {
        for (Index j = i + 1; j < 400; ++j) {
          const int distance = HammingDistance(data.codes.code(i), data.codes.code(j));
          const auto [a, b] =
              std::minmax(data.ids[static_cast<size_t>(i)], data.ids[static_cast<size_t>(j)]);
          if (distance <= radius) expected.emplace(a, b, distance);
        }
      }
      std::set<std::tuple<int64_t, int64_t, int32_t>> found;
      size_t emitted = 0;
      index.FindPairs(radius, context, [&](std::span<const IdPair> pairs) {
        for (const IdPair& pair : pairs) found.emplace(pair.first, pair.second, pair.distance);
        emitted += pairs.size();
      });
      EXPECT_EQ(found, expected);
      EXPECT_EQ(emitted, expected.size());

      // Groups by following pairs from each id.
      std::set<std::vector<int64_t>> groups;
      for (const int64_t start : data.ids) {
        std::set<int64_t> group = {start};
        for (size_t before = 0; before != group.size();) {
          before = group.size();
          for (const auto& [a, b, distance] : expected) {
            if (group.count(a) + group.count(b) == 1) group.insert({a, b});
          }
        }
        if (group.size() > 1) groups.insert({group.begin(), group.end()});
      }
      const auto got = index.FindGroups(radius, context);
      EXPECT_EQ(std::set(got.begin(), got.end()), groups);
      EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
    }
    EXPECT_THROW(index.FindGroups(-1, context), Error);
  }
}

TEST(CodePairs, ThousandsOfEqualCodesAreOneGroup) {
  CodeIndex index({.bits = 64});
  std::vector<int64_t> ids(30000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i);
  index.Add(BinaryCodes(64, std::vector<uint8_t>(ids.size() * 8, 0x5a)), ids);
  const auto groups = index.FindGroups(2, RunContext({.threads = 1}));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0], ids);
}

}  // namespace
}  // namespace bitpool
