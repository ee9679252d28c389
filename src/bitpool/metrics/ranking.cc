#include "bitpool/metrics/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

constexpr double kNothingRelevant = std::numeric_limits<double>::quiet_NaN();

double Ratio(Index part, Index whole) {
  return whole == 0 ? kNothingRelevant : static_cast<double>(part) / static_cast<double>(whole);
}

// Puts an item after the others. Neighbours that are both relevant, or both not, share a group.
void AppendPure(bool relevant, std::vector<TieGroup>& groups) {
  if (groups.empty() || (groups.back().relevant > 0) != relevant) groups.emplace_back();
  ++groups.back().items;
  groups.back().relevant += relevant ? 1 : 0;
}

struct RankedItem {
  uint32_t distance;  // as a number of the same order
  bool relevant;
};

// Whole numbers in the order of the floating-point ones; those that are equal, as 0 and −0, stay
// so.
uint32_t OrderedBits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value + 0.0F);
  return (bits & 0x8000'0000U) != 0 ? ~bits : bits | 0x8000'0000U;
}

// By distance, in the order of the input where equal. Eleven bits at a time: several times faster
// than comparing, and every query of an evaluation sorts its whole database.
void SortByDistance(std::vector<RankedItem>& items) {
  constexpr int kDigitBits = 11;
  constexpr uint32_t kDigits = 1U << kDigitBits;
  std::vector<RankedItem> sorted(items.size());
  for (int shift = 0; shift < 32; shift += kDigitBits) {
    std::array<size_t, kDigits + 1> begin = {};
    for (const RankedItem& item : items) ++begin[(item.distance >> shift) % kDigits + 1];
    for (size_t digit = 1; digit < kDigits; ++digit) begin[digit] += begin[digit - 1];
    for (const RankedItem& item : items) sorted[begin[(item.distance >> shift) % kDigits]++] = item;
    items.swap(sorted);
  }
}

// The items that are not ignored, nearest first, in the order of the input where equal.
std::vector<RankedItem> SortItems(std::span<const float> distances,
                                  std::span<const Judgement> judgements) {
  std::vector<RankedItem> items;
  items.reserve(distances.size());
  for (size_t i = 0; i < distances.size(); ++i) {
    if (judgements[i] == Judgement::kIgnored) continue;
    if (std::isnan(distances[i])) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("item {}: its distance is not a number", i));
    }
    items.push_back(
        {.distance = OrderedBits(distances[i]), .relevant = judgements[i] == Judgement::kRelevant});
  }
  SortByDistance(items);
  return items;
}

Index CountRelevant(std::span<const TieGroup> groups) {
  Index relevant = 0;
  for (const TieGroup& group : groups) relevant += group.relevant;
  return relevant;
}

Ranking RankingOf(std::vector<TieGroup> groups) {
  const Index relevant = CountRelevant(groups);
  return {.groups = std::move(groups), .relevant = relevant};
}

// The results before a group.
struct Before {
  Index items = 0;
  Index relevant = 0;
};

// What relevant results at the places i = 1 … count after N results add to the sum of an average
// precision, cut into parts that do not depend on how many relevant ones there are. With p relevant
// results before it, a relevant result at rank n adds
//   rectangular:  (p + 1) / n
//   trapezoidal:  ½ (p + 1) / n + ½ p / (n − 1), or ½ + ½ where n = 1
// which is f(n) + p g(n).
struct PlaceSums {
  double hit = 0;     // Σ f(N + i)
  double before = 0;  // Σ g(N + i)
  double within = 0;  // Σ (i − 1) g(N + i)

  PlaceSums(ApKind kind, Index results_before, Index count) {
    const double half = kind == ApKind::kTrapezoidal ? 0.5 : 1;
    for (Index i = 0; i < count; ++i) {
      const Index rank = results_before + i + 1;
      const double at = half / static_cast<double>(rank);
      double previous = 0;
      if (kind == ApKind::kTrapezoidal && rank > 1) previous = half / static_cast<double>(rank - 1);
      hit += at;
      before += at + previous;
      within += static_cast<double>(i) * (at + previous);
    }
    if (kind == ApKind::kTrapezoidal && results_before == 0 && count > 0) hit += half;
  }

  // The expected sum where `relevant` of `items` results are relevant, in random order, and the
  // places are the first of them. The item at a place is relevant with probability r/t; if it is,
  // each place before it holds one of the other r − 1 relevant among the other t − 1. So
  //   E = Σᵢ r/t · (f(N + i) + (P + (i − 1) (r − 1)/(t − 1)) g(N + i)).
  double Expected(Index relevant_before, Index items, Index relevant) const {
    if (relevant == 0) return 0;
    const double others = items == 1 ? 0 : Ratio(relevant - 1, items - 1);
    return Ratio(relevant, items) *
           (hit + static_cast<double>(relevant_before) * before + others * within);
  }
};

// Calls visit(x, weight) for the numbers x of relevant items among `count` that are drawn from the
// group without replacement. The weights are probabilities but for a common factor, the largest
// about 1. From the likeliest x they fall faster and faster, so tails that are too small to count
// are left out.
template <class Visit>
void ForEachDraw(const TieGroup& group, Index count, const Visit& visit) {
  constexpr double kNegligible = 1e-25;
  const Index irrelevant = group.items - group.relevant;
  const Index fewest = std::max<Index>(0, count - irrelevant);
  const Index most = std::min(group.relevant, count);
  const Index likeliest =
      std::clamp((count + 1) * (group.relevant + 1) / (group.items + 2), fewest, most);
  // C(r, x + 1) C(t − r, c − x − 1) / (C(r, x) C(t − r, c − x))
  const auto ratio = [&](Index x) {
    return Ratio(group.relevant - x, x + 1) * Ratio(count - x, irrelevant - count + x + 1);
  };
  double weight = 1;
  for (Index x = likeliest; x <= most && weight > kNegligible; ++x) {
    visit(x, weight);
    if (x < most) weight *= ratio(x);
  }
  weight = 1;
  for (Index x = likeliest; x > fewest;) {
    weight /= ratio(--x);
    if (weight <= kNegligible) break;
    visit(x, weight);
  }
}

// The sum over all results before the cutoff, divided by the relevant ones among them, where the
// cutoff leaves only `count` results of the last group. How many relevant ones these are, x, is
// random; given x, all their orders are equally likely, and they do not depend on the groups
// before, so that
//   E = Σₓ Pr(x) (sum before + E(sum of the group | x)) / (relevant before + x).
double ExpectedOverFound(const PlaceSums& places, const TieGroup& group, Index count,
                         const Before& before, double sum_before) {
  double total = 0, weights = 0;
  ForEachDraw(group, count, [&](Index x, double weight) {
    weights += weight;
    const Index found = before.relevant + x;
    if (found == 0) return;
    const double sum = sum_before + places.Expected(before.relevant, count, x);
    total += weight * sum / static_cast<double>(found);
  });
  return total / weights;
}

// Relevant results expected among the first k.
double ExpectedHits(const Ranking& ranking, Index k) {
  double hits = 0;
  for (const TieGroup& group : ranking.groups) {
    if (k <= 0) break;
    const Index reached = std::min(group.items, k);
    if (reached > 0) hits += static_cast<double>(reached) * Ratio(group.relevant, group.items);
    k -= reached;
  }
  return hits;
}

}  // namespace

Ranking RankByHamming(std::span<const uint16_t> distances, std::span<const Judgement> judgements,
                      int bits) {
  std::vector<std::array<Index, 4>> counts(static_cast<size_t>(bits) + 1);  // of each judgement
  for (size_t i = 0; i < distances.size(); ++i) {
    ++counts[distances[i]][static_cast<size_t>(judgements[i])];
  }
  std::vector<TieGroup> groups;
  groups.reserve(counts.size());
  for (const std::array<Index, 4>& count : counts) {
    const Index relevant = count[static_cast<size_t>(Judgement::kRelevant)];
    const Index irrelevant = count[static_cast<size_t>(Judgement::kIrrelevant)];
    groups.push_back({.items = relevant + irrelevant, .relevant = relevant});
  }
  return RankingOf(std::move(groups));
}

Ranking RankByDistance(std::span<const float> distances, std::span<const Judgement> judgements) {
  const std::vector<RankedItem> items = SortItems(distances, judgements);
  std::vector<TieGroup> groups;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i == 0 || items[i].distance != items[i - 1].distance) groups.emplace_back();
    ++groups.back().items;
    groups.back().relevant += items[i].relevant ? 1 : 0;
  }
  return RankingOf(std::move(groups));
}

Ranking BreakTies(Ranking ranking, TiePolicy policy) {
  if (policy == TiePolicy::kExpected) return ranking;
  if (policy == TiePolicy::kInputOrder) {
    throw Error(ErrorCode::kInvalidArgument,
                "groups do not know the order of the input: expected another tie policy");
  }
  std::vector<TieGroup> groups;
  groups.reserve(2 * ranking.groups.size());
  for (const TieGroup& group : ranking.groups) {
    const Index irrelevant = group.items - group.relevant;
    groups.push_back({.items = group.relevant, .relevant = group.relevant});
    groups.push_back({.items = irrelevant, .relevant = 0});
    if (policy == TiePolicy::kPessimistic) std::swap(groups.back(), groups[groups.size() - 2]);
  }
  ranking.groups = std::move(groups);
  return ranking;
}

Ranking RankByHammingInOrder(std::span<const uint16_t> distances,
                             std::span<const Judgement> judgements, int bits) {
  std::vector<std::vector<TieGroup>> at_distance(static_cast<size_t>(bits) + 1);
  for (size_t i = 0; i < distances.size(); ++i) {
    if (judgements[i] == Judgement::kIgnored) continue;
    AppendPure(judgements[i] == Judgement::kRelevant, at_distance[distances[i]]);
  }
  std::vector<TieGroup> groups;
  for (const std::vector<TieGroup>& part : at_distance) {
    groups.insert(groups.end(), part.begin(), part.end());
  }
  return RankingOf(std::move(groups));
}

Ranking RankByDistanceInOrder(std::span<const float> distances,
                              std::span<const Judgement> judgements) {
  std::vector<TieGroup> groups;
  for (const RankedItem& item : SortItems(distances, judgements)) {
    AppendPure(item.relevant, groups);
  }
  return RankingOf(std::move(groups));
}

void ApDefinition::Validate() const {
  if (cutoff >= 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("cutoff: expected 0 (all results) or more, got {}", cutoff));
}

double AveragePrecision(const Ranking& ranking, const ApDefinition& definition) {
  if (ranking.relevant == 0) return kNothingRelevant;
  const Index cutoff =
      definition.cutoff == 0 ? std::numeric_limits<Index>::max() : definition.cutoff;
  Before before;
  double sum = 0;
  for (const TieGroup& group : ranking.groups) {
    const Index reached = std::min(group.items, cutoff - before.items);
    if (group.relevant > 0 && reached > 0) {
      const PlaceSums places(definition.kind, before.items, reached);
      if (reached < group.items && definition.divisor == ApDivisor::kFound) {
        return ExpectedOverFound(places, group, reached, before, sum);
      }
      sum += places.Expected(before.relevant, group.items, group.relevant);
      before.relevant += group.relevant;
    }
    before.items += reached;
  }
  Index divisor = ranking.relevant;
  if (definition.divisor == ApDivisor::kReachable) divisor = std::min(divisor, cutoff);
  if (definition.divisor == ApDivisor::kFound) divisor = before.relevant;
  return divisor == 0 ? 0 : sum / static_cast<double>(divisor);
}

double PrecisionAt(const Ranking& ranking, Index k) {
  return ExpectedHits(ranking, k) / static_cast<double>(k);
}

double RecallAt(const Ranking& ranking, Index k) {
  if (ranking.relevant == 0) return kNothingRelevant;
  return ExpectedHits(ranking, k) / static_cast<double>(ranking.relevant);
}

std::vector<CurvePoint> PrecisionRecallCurve(const Ranking& ranking) {
  std::vector<CurvePoint> curve;
  curve.reserve(ranking.groups.size());
  Before so_far;
  for (const TieGroup& group : ranking.groups) {
    so_far.items += group.items;
    so_far.relevant += group.relevant;
    curve.push_back({.items = so_far.items,
                     .precision = so_far.items == 0 ? 0 : Ratio(so_far.relevant, so_far.items),
                     .recall = Ratio(so_far.relevant, ranking.relevant)});
  }
  return curve;
}

}  // namespace bitpool
