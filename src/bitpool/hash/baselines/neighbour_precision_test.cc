#include "bitpool/hash/baselines/neighbour_precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

template <class Distance>
std::set<Index> Nearest(Index count, Index k, const Distance& distance) {
  std::vector<Index> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, distance);
  return {order.begin(), order.begin() + k};
}

TEST(NeighbourPrecision, AgreesWithSorting) {
  Random random(1);
  const MatrixF samples = random.NormalMatrix(5, 90);
  const BinaryCodes codes = BinaryCodes::FromSigns(random.NormalMatrix(11, 5) * samples);
  const std::vector<Index> queries = {3, 40, 41, 89};
  for (const Index k : {1, 7, 90}) {
    Index right = 0;
    for (const Index query : queries) {
      const auto truth = Nearest(90, k, [&](Index i) {
        return (samples.col(i) - samples.col(query)).cast<double>().squaredNorm();
      });
      const auto found = Nearest(
          90, k, [&](Index i) { return HammingDistance(codes.code(i), codes.code(query)); });
      right += std::ranges::count_if(found, [&](Index i) { return truth.contains(i); });
    }
    const auto expected = static_cast<double>(right) / static_cast<double>(4 * k);
    for (const int threads : {1, 4}) {
      const RunContext context({.threads = threads});
      EXPECT_EQ(NeighbourPrecision(samples, queries, k, context).Of(codes, context), expected);
    }
  }
}

}  // namespace
}  // namespace bitpool
