#include "bitpool/codes/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

// Shows the candidates and compares with sorting all of them.
void ExpectBest(const std::vector<Neighbour>& candidates, int64_t k, int bits, bool ascending,
                TopK& top) {
  top.Reset(k, bits, ascending);
  size_t shown = 0;
  for (const Neighbour& candidate : candidates) {
    if (candidate.distance > top.threshold()) continue;
    top.Add(candidate.id, candidate.distance);
    ++shown;
  }
  std::vector<Neighbour> best;
  top.Finish(best);
  std::vector<Neighbour> expected = candidates;
  std::sort(expected.begin(), expected.end());
  expected.resize(std::min<size_t>(expected.size(), static_cast<size_t>(k)));
  ASSERT_EQ(best, expected) << "k " << k << " of " << candidates.size() << ", shown " << shown;
}

TEST(TopK, EqualsSorting) {
  Random random(1);
  TopK top;  // reused, as in a search
  for (int round = 0; round < 400; ++round) {
    const int bits = static_cast<int>(1 + random.Below(64));
    const auto count = random.Below(2000);
    const auto k = static_cast<int64_t>(random.Below(120));
    std::vector<Neighbour> candidates;
    for (uint64_t i = 0; i < count; ++i) {
      // Few different distances, so that there are many ties.
      const auto distance =
          static_cast<int32_t>(random.Below(random.Below(static_cast<uint64_t>(bits) + 1) + 1));
      candidates.push_back({.id = static_cast<int64_t>(i), .distance = distance});
    }
    ExpectBest(candidates, k, bits, true, top);
    random.Shuffle(candidates);
    ExpectBest(candidates, k, bits, false, top);
  }
}

TEST(TopK, AllEqualCandidatesAreRefusedOnceThereAreEnough) {
  TopK top;
  top.Reset(10, 32, true);
  int shown = 0;
  for (int64_t id = 0; id < 100000; ++id) {
    if (5 > top.threshold()) continue;
    top.Add(id, 5);
    ++shown;
  }
  EXPECT_EQ(shown, 10);
}

}  // namespace
}  // namespace bitpool
