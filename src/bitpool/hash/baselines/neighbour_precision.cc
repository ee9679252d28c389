#include "bitpool/hash/baselines/neighbour_precision.h"

#include <algorithm>
#include <utility>

#include "bitpool/codes/top_k.h"

namespace bitpool {
namespace {

// The numbers of the smallest values, ascending.
std::vector<Index> PositionsOfSmallest(const VectorF& values, Index count) {
  std::vector<std::pair<float, Index>> order(static_cast<size_t>(values.size()));
  for (Index i = 0; i < values.size(); ++i) order[static_cast<size_t>(i)] = {values[i], i};
  std::ranges::nth_element(order, order.begin() + (count - 1));
  std::vector<Index> positions(static_cast<size_t>(count));
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = order[i].second;
  std::ranges::sort(positions);
  return positions;
}

}  // namespace

NeighbourPrecision::NeighbourPrecision(const MatrixF& samples, std::vector<Index> queries,
                                       Index neighbours, const RunContext& context)
    : queries_(std::move(queries)), neighbours_(neighbours), truth_(queries_.size()) {
  const VectorF norms = samples.colwise().squaredNorm();
  context.ParallelFor(queries_.size(), 1, [&](size_t query, size_t /*end*/) {
    VectorF distances = norms;  // less the norm of the query, which changes no order
    distances.noalias() -= 2.0F * (samples.transpose() * samples.col(queries_[query]));
    truth_[query] = PositionsOfSmallest(distances, neighbours_);
  });
}

double NeighbourPrecision::Of(const BinaryCodes& codes, const RunContext& context) const {
  std::vector<Index> found(queries_.size());
  context.ParallelFor(queries_.size(), 1, [&](size_t query, size_t /*end*/) {
    const auto code = codes.code(queries_[query]);
    TopK top;
    top.Reset(neighbours_, codes.bits(), true);
    for (Index i = 0; i < codes.size(); ++i) {
      const int32_t distance = HammingDistance(code, codes.code(i));
      if (distance <= top.threshold()) top.Add(i, distance);
    }
    std::vector<Neighbour> best;
    top.Finish(best);
    found[query] = std::ranges::count_if(best, [&](const Neighbour& neighbour) {
      return std::ranges::binary_search(truth_[query], neighbour.id);
    });
  });
  Index right = 0;
  for (const Index count : found) right += count;
  return static_cast<double>(right) / static_cast<double>(neighbours_ * std::ssize(queries_));
}

}  // namespace bitpool
