#include "bitpool/metrics/ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/metrics/testing.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Judgement kYes = Judgement::kRelevant;
constexpr Judgement kNo = Judgement::kIrrelevant;
constexpr Judgement kSkip = Judgement::kIgnored;

Ranking MakeRanking(std::vector<TieGroup> groups) {
  Ranking ranking{.groups = std::move(groups), .relevant = 0};
  for (const TieGroup& group : ranking.groups) ranking.relevant += group.relevant;
  return ranking;
}

Ranking RandomRanking(Random& random, uint64_t groups, uint64_t items) {
  std::vector<TieGroup> made;
  for (uint64_t i = 0; i < groups; ++i) {
    const auto count = static_cast<Index>(random.Below(items + 1));
    const auto relevant = static_cast<Index>(random.Below(static_cast<uint64_t>(count) + 1));
    made.push_back({.items = count, .relevant = relevant});
  }
  return MakeRanking(made);
}

using Results = std::vector<bool>;

// Calls visit for every order of the results that the groups allow, each equally often. Orders that
// differ only in which of two relevant items comes first are visited as one; there are equally many
// of them for every order that is visited.
void ForEachOrder(const Ranking& ranking, const std::function<void(const Results&)>& visit,
                  size_t group = 0, const Results& so_far = {}) {
  if (group == ranking.groups.size()) return visit(so_far);
  const TieGroup& next = ranking.groups[group];
  Results part(static_cast<size_t>(next.items), false);
  std::fill(part.end() - next.relevant, part.end(), true);
  do {
    Results longer = so_far;
    longer.insert(longer.end(), part.begin(), part.end());
    ForEachOrder(ranking, visit, group + 1, longer);
  } while (std::next_permutation(part.begin(), part.end()));
}

double MeanOverOrders(const Ranking& ranking, const std::function<double(const Results&)>& value) {
  double sum = 0, orders = 0;
  ForEachOrder(ranking, [&](const Results& results) {
    sum += value(results);
    ++orders;
  });
  return sum / orders;
}

Index HitsAmong(const Results& results, Index k) {
  const auto end = results.begin() + std::min(k, static_cast<Index>(results.size()));
  return std::count(results.begin(), end, true);
}

TEST(AveragePrecision, IsTheMeanOverAllOrdersOfTies) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    Ranking ranking = RandomRanking(random, 1 + random.Below(3), round < 10 ? 8 : 6);
    if (ranking.relevant == 0) continue;
    ranking.relevant += static_cast<Index>(random.Below(2));  // one more that is never found
    Index items = 0;
    for (const TieGroup& group : ranking.groups) items += group.items;
    for (const ApKind kind : kApKinds) {
      for (const ApDivisor divisor : kApDivisors) {
        for (Index cutoff = 0; cutoff <= items + 1; ++cutoff) {
          const ApDefinition definition{.kind = kind, .divisor = divisor, .cutoff = cutoff};
          const double expected = MeanOverOrders(ranking, [&](const Results& results) {
            return ReferenceAp(results, ranking.relevant, definition);
          });
          EXPECT_NEAR(AveragePrecision(ranking, definition), expected, 1e-13)
              << round << " " << static_cast<int>(kind) << static_cast<int>(divisor) << cutoff;
        }
      }
    }
  }
}

TEST(AveragePrecision, AgreesWithTheDefinitionWithoutTies) {
  Random random(2);
  for (int round = 0; round < 50; ++round) {
    std::vector<TieGroup> groups;
    Results results;
    for (uint64_t i = 0, count = 1 + random.Below(200); i < count; ++i) {
      results.push_back(i == 0 || random.Below(4) == 0);
      groups.push_back({.items = 1, .relevant = results.back() ? 1 : 0});
    }
    const Ranking ranking = MakeRanking(groups);
    for (const ApKind kind : kApKinds) {
      for (const ApDivisor divisor : kApDivisors) {
        for (const Index cutoff : {0, 1, 2, 10, 1000}) {
          const ApDefinition definition{.kind = kind, .divisor = divisor, .cutoff = cutoff};
          EXPECT_NEAR(AveragePrecision(ranking, definition),
                      ReferenceAp(results, ranking.relevant, definition), 1e-12);
        }
      }
    }
  }
}

// A cutoff inside a tie that is too large for counting its orders: the probabilities of the number
// found come from logarithms of factorials, and the mean is taken place by place.
TEST(AveragePrecision, CutsLargeTies) {
  const auto log_choose = [](Index n, Index k) {
    const auto log_factorial = [](Index m) { return std::lgamma(static_cast<double>(m) + 1); };
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
  };
  struct Case {
    Index before, hits, items, relevant, reached;
  };
  for (const auto& [before, hits, items, relevant, reached] :
       {Case{0, 0, 2000, 300, 700}, Case{50, 20, 2000, 1990, 700}, Case{5, 0, 1000, 1, 10},
        Case{5, 0, 1000, 2, 999}, Case{7, 7, 60000, 6000, 993}}) {
    const Ranking ranking =
        MakeRanking({{.items = before, .relevant = hits}, {.items = items, .relevant = relevant}});
    double sum_before = 0;
    for (Index i = 1; i <= before && hits > 0; ++i) {
      const double others = before > 1 ? double(i - 1) * double(hits - 1) / double(before - 1) : 0;
      sum_before += double(hits) / double(before) * (1 + others) / double(i);
    }
    double expected = 0;
    for (Index x = std::max<Index>(0, reached - (items - relevant));
         x <= std::min(relevant, reached); ++x) {
      if (hits + x == 0) continue;
      const double chance =
          std::exp(log_choose(relevant, x) + log_choose(items - relevant, reached - x) -
                   log_choose(items, reached));
      double sum = sum_before;
      for (Index i = 1; i <= reached; ++i) {
        const double others = reached > 1 ? double(i - 1) * double(x - 1) / double(reached - 1) : 0;
        sum += double(x) / double(reached) * (double(hits) + 1 + others) / double(before + i);
      }
      expected += chance * sum / double(hits + x);
    }
    const ApDefinition definition{.divisor = ApDivisor::kFound, .cutoff = before + reached};
    EXPECT_NEAR(AveragePrecision(ranking, definition), expected, 1e-8) << items << " " << relevant;
  }
}

TEST(AveragePrecision, Edges) {
  for (const ApKind kind : kApKinds) {
    for (const ApDivisor divisor : kApDivisors) {
      const ApDefinition all{.kind = kind, .divisor = divisor};
      const ApDefinition first{.kind = kind, .divisor = divisor, .cutoff = 1};
      EXPECT_DOUBLE_EQ(AveragePrecision(MakeRanking({{7, 7}, {0, 0}, {3, 3}}), all), 1);
      EXPECT_TRUE(std::isnan(AveragePrecision(MakeRanking({{7, 0}, {3, 0}}), all)));
      EXPECT_TRUE(std::isnan(AveragePrecision(MakeRanking({}), all)));
      EXPECT_EQ(AveragePrecision(MakeRanking({{1, 0}, {3, 3}}), first), 0);
      EXPECT_EQ(AveragePrecision({.groups = {}, .relevant = 4}, all), 0);
    }
  }
  EXPECT_THAT(RefusalOf([] { ApDefinition{.cutoff = -1}.Validate(); }), HasSubstr("got -1"));
}

TEST(BreakTies, BoundsTheExpectedValue) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const Ranking ranking = RandomRanking(random, 1 + random.Below(6), 20);
    if (ranking.relevant == 0) continue;
    const Ranking best = BreakTies(ranking, TiePolicy::kOptimistic);
    const Ranking worst = BreakTies(ranking, TiePolicy::kPessimistic);
    for (const ApKind kind : kApKinds) {
      for (const ApDivisor divisor : {ApDivisor::kExisting, ApDivisor::kReachable}) {
        for (const Index cutoff : {0, 1, 5, 17}) {
          const ApDefinition definition{.kind = kind, .divisor = divisor, .cutoff = cutoff};
          const double expected = AveragePrecision(ranking, definition);
          EXPECT_GE(AveragePrecision(best, definition), expected - 1e-12);
          EXPECT_LE(AveragePrecision(worst, definition), expected + 1e-12);
        }
      }
    }
    EXPECT_GE(PrecisionAt(best, 5), PrecisionAt(ranking, 5) - 1e-12);
    EXPECT_LE(PrecisionAt(worst, 5), PrecisionAt(ranking, 5) + 1e-12);
  }
}

TEST(BreakTies, IsOneOfTheOrders) {
  Random random(4);
  for (int round = 0; round < 30; ++round) {
    const Ranking ranking = RandomRanking(random, 3, 5);
    if (ranking.relevant == 0) continue;
    for (const ApKind kind : kApKinds) {
      const ApDefinition definition{.kind = kind};
      double best = 0, worst = 1;
      ForEachOrder(ranking, [&](const Results& results) {
        const double ap = ReferenceAp(results, ranking.relevant, definition);
        best = std::max(best, ap);
        worst = std::min(worst, ap);
      });
      EXPECT_NEAR(AveragePrecision(BreakTies(ranking, TiePolicy::kOptimistic), definition), best,
                  1e-13);
      EXPECT_NEAR(AveragePrecision(BreakTies(ranking, TiePolicy::kPessimistic), definition), worst,
                  1e-13);
    }
  }
  const Ranking same = BreakTies(MakeRanking({{3, 1}}), TiePolicy::kExpected);
  EXPECT_THAT(same.groups, ElementsAre(TieGroup{3, 1}));
  EXPECT_THAT(RefusalOf([] { BreakTies({}, TiePolicy::kInputOrder); }), HasSubstr("order of the"));
}

// Finding one more can lower the mean over those found, which docs/metrics.md warns of.
TEST(BreakTies, DoesNotBoundAveragesOverTheFound) {
  const Ranking ranking = MakeRanking({{1, 1}, {10, 0}, {2, 1}});
  const ApDefinition definition{.divisor = ApDivisor::kFound, .cutoff = 12};
  EXPECT_NEAR(AveragePrecision(BreakTies(ranking, TiePolicy::kOptimistic), definition), 7.0 / 12,
              1e-15);
  EXPECT_EQ(AveragePrecision(BreakTies(ranking, TiePolicy::kPessimistic), definition), 1);
}

TEST(PrecisionAndRecallAt, AreTheMeansOverAllOrdersOfTies) {
  Random random(5);
  for (int round = 0; round < 40; ++round) {
    Ranking ranking = RandomRanking(random, 3, 5);
    if (ranking.relevant == 0) continue;
    ++ranking.relevant;
    for (Index k = 1; k < 18; ++k) {
      const double hits = MeanOverOrders(ranking, [&](const Results& results) {
        return static_cast<double>(HitsAmong(results, k));
      });
      EXPECT_NEAR(PrecisionAt(ranking, k), hits / static_cast<double>(k), 1e-13);
      EXPECT_NEAR(RecallAt(ranking, k), hits / static_cast<double>(ranking.relevant), 1e-13);
    }
  }
  EXPECT_EQ(PrecisionAt(MakeRanking({{4, 0}}), 2), 0);
  EXPECT_TRUE(std::isnan(RecallAt(MakeRanking({{4, 0}}), 2)));
}

TEST(PrecisionRecallCurve, HasAPointForEachGroup) {
  const std::vector<CurvePoint> curve =
      PrecisionRecallCurve(MakeRanking({{0, 0}, {2, 1}, {0, 0}, {6, 3}}));
  ASSERT_EQ(curve.size(), 4U);
  const Index items[] = {0, 2, 2, 8};
  const double precision[] = {0, 0.5, 0.5, 0.5}, recall[] = {0, 0.25, 0.25, 1};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(curve[i].items, items[i]);
    EXPECT_EQ(curve[i].precision, precision[i]);
    EXPECT_EQ(curve[i].recall, recall[i]);
  }
  EXPECT_TRUE(std::isnan(PrecisionRecallCurve(MakeRanking({{1, 0}}))[0].recall));
}

TEST(Rank, GroupsByDistanceWithoutTheIgnored) {
  const std::vector<uint16_t> whole = {2, 0, 2, 4, 2, 0};
  const std::vector<float> real = {2, 0, 2, 4, 2, -0.0F};
  const std::vector<Judgement> judgements = {kYes, kSkip, kNo, kYes, kSkip, kNo};
  const Ranking by_hamming = RankByHamming(whole, judgements, 5);
  EXPECT_THAT(by_hamming.groups, ElementsAre(TieGroup{1, 0}, TieGroup{}, TieGroup{2, 1}, TieGroup{},
                                             TieGroup{1, 1}, TieGroup{}));
  EXPECT_EQ(by_hamming.relevant, 2);
  const Ranking by_distance = RankByDistance(real, judgements);
  EXPECT_THAT(by_distance.groups, ElementsAre(TieGroup{1, 0}, TieGroup{2, 1}, TieGroup{1, 1}));
  EXPECT_EQ(by_distance.relevant, 2);
}

TEST(Rank, InputOrderIsThatOfAStableSort) {
  Random random(6);
  for (const size_t count : {0, 1, 7, 300}) {
    std::vector<uint16_t> whole(count);
    std::vector<float> real(count);
    std::vector<Judgement> judgements(count);
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i) {
      whole[i] = static_cast<uint16_t>(random.Below(9));
      real[i] = static_cast<float>(whole[i]);
      judgements[i] = std::vector{kYes, kNo, kNo, kSkip}[random.Below(4)];
    }
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return whole[a] < whole[b]; });
    Results expected;
    for (const size_t i : order) {
      if (judgements[i] != kSkip) expected.push_back(judgements[i] == kYes);
    }
    for (const Ranking& ranking :
         {RankByHammingInOrder(whole, judgements, 8), RankByDistanceInOrder(real, judgements)}) {
      int orders = 0;
      ForEachOrder(ranking, [&](const Results& results) {
        EXPECT_EQ(results, expected);
        ++orders;
      });
      EXPECT_EQ(orders, 1);
      EXPECT_EQ(ranking.relevant, std::count(expected.begin(), expected.end(), true));
    }
  }
}

TEST(Rank, NamesADistanceThatIsNotANumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(RefusalOf([&] {
                RankByDistance(std::vector{0.F, nan}, std::vector{kYes, kNo});
              }),
              HasSubstr("item 1"));
  const Ranking ranking =
      RankByDistance(std::vector{infinity, nan, 1.F, infinity}, std::vector{kYes, kSkip, kNo, kNo});
  EXPECT_THAT(ranking.groups, ElementsAre(TieGroup{1, 0}, TieGroup{2, 1}));
}

// The example of docs/metrics.md, with its numbers.
TEST(Metrics, ExampleOfTheDocumentation) {
  const std::vector<uint16_t> distances = {0, 1, 1, 1, 2, 3, 0};  // a b c d e f g
  const std::vector<Judgement> judgements = {kYes, kYes, kNo, kNo, kNo, kYes, kSkip};
  const Ranking ranking = RankByHamming(distances, judgements, 4);
  const auto ap = [&](const ApDefinition& definition, TiePolicy ties = TiePolicy::kExpected) {
    return AveragePrecision(BreakTies(ranking, ties), definition);
  };
  EXPECT_NEAR(ap({}), 20.0 / 27, 1e-15);
  EXPECT_NEAR(ap({}, TiePolicy::kOptimistic), 5.0 / 6, 1e-15);
  EXPECT_NEAR(ap({}, TiePolicy::kPessimistic), 2.0 / 3, 1e-15);
  EXPECT_NEAR(AveragePrecision(RankByHammingInOrder(distances, judgements, 4), {}), 5.0 / 6, 1e-15);
  EXPECT_NEAR(ap({.kind = ApKind::kTrapezoidal}), 127.0 / 180, 1e-15);
  EXPECT_NEAR(ap({.divisor = ApDivisor::kExisting, .cutoff = 2}), 4.0 / 9, 1e-15);
  EXPECT_NEAR(ap({.divisor = ApDivisor::kReachable, .cutoff = 2}), 2.0 / 3, 1e-15);
  EXPECT_NEAR(ap({.divisor = ApDivisor::kExisting, .cutoff = 3}), 14.0 / 27, 1e-15);
  EXPECT_NEAR(ap({.divisor = ApDivisor::kFound, .cutoff = 3}), 17.0 / 18, 1e-15);
  EXPECT_NEAR(PrecisionAt(ranking, 3), 5.0 / 9, 1e-15);
  EXPECT_NEAR(RecallAt(ranking, 3), 5.0 / 9, 1e-15);
  const std::vector<CurvePoint> curve = PrecisionRecallCurve(ranking);
  const double precision[] = {1, 0.5, 0.4, 0.5, 0.5};
  const double recall[] = {1.0 / 3, 2.0 / 3, 2.0 / 3, 1, 1};
  for (size_t radius = 0; radius < 5; ++radius) {
    EXPECT_NEAR(curve[radius].precision, precision[radius], 1e-15);
    EXPECT_NEAR(curve[radius].recall, recall[radius], 1e-15);
  }
}

}  // namespace
}  // namespace bitpool
