#include "bitpool/codes/top_scores.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

TEST(TopScores, EqualsSorting) {
  Random random(3);
  TopScores top;  // reused, as in a search
  for (int round = 0; round < 300; ++round) {
    const auto count = static_cast<int64_t>(random.Below(1500));
    const auto k = static_cast<int64_t>(random.Below(90));
    std::vector<ScoredNeighbour> candidates;
    for (int64_t id = 0; id < count; ++id) {
      // Few different scores, so that there are many ties.
      const double score = 0.25 * static_cast<double>(random.Below(round % 3 == 0 ? 5 : 1000)) - 60;
      candidates.push_back({.id = id, .score = score, .distance = static_cast<int32_t>(id % 7)});
    }
    random.Shuffle(candidates);
    top.Reset(k);
    for (const ScoredNeighbour& candidate : candidates) {
      const double before = top.threshold();
      if (candidate.score < before) continue;  // what a search leaves out
      top.Add(candidate);
      EXPECT_GE(top.threshold(), before);
    }
    EXPECT_EQ(top.full(), count >= k);
    std::vector<ScoredNeighbour> best;
    top.Finish(best);
    std::sort(candidates.begin(), candidates.end());
    candidates.resize(static_cast<size_t>(std::min(count, k)));
    ASSERT_EQ(best, candidates) << "k " << k << " of " << count;
  }
}

TEST(TopScores, NothingIsWantedForKOfZero) {
  TopScores top;
  top.Reset(0);
  EXPECT_TRUE(top.full());
  top.Add({.id = 1, .score = 1e300, .distance = 0});
  std::vector<ScoredNeighbour> best(3);
  top.Finish(best);
  EXPECT_TRUE(best.empty());
}

}  // namespace
}  // namespace bitpool
