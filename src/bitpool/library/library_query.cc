#include "bitpool/library/library_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bitpool/base/error.h"
#include "bitpool/codes/asymmetric_scan.h"

namespace bitpool {
namespace {

void CheckQuery(const PictureCode& query, int64_t k, int bits) {
  if (k < 1) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("k: expected 1 or more, got {}", k));
  }
  if (query.code.size() == BytesPerCode(bits) && query.projection.size() == bits) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("the query has a code of {} bytes and {} projections: expected those of "
                          "{} bits",
                          query.code.size(), query.projection.size(), bits));
}

// All within the distance of the k-th nearest.
std::vector<Neighbour> NearestWithTies(const CodeIndex& index, const BinaryCodes& query, int64_t k,
                                       const RunContext& context) {
  k = std::min<int64_t>(k, index.size());
  if (k == 0) return {};
  const int radius = index.Search(query, k, context).neighbours.back().distance;
  return index.RangeSearch(query, radius, context).front();
}

// By (distance, falling score, id). All codes as near as the k-th are compared before the list is
// cut.
std::vector<ScoredNeighbour> ByHamming(const CodeIndex& index, const PictureCode& query, int64_t k,
                                       const RunContext& context) {
  const std::shared_ptr<const CodeSegment> codes = index.Compacted();
  const RealQueries weights(query.projection);
  std::vector<ScoredNeighbour> found;
  std::vector<uint8_t> code(query.code.size());
  for (const Neighbour& near :
       NearestWithTies(index, BinaryCodes(index.bits(), query.code), k, context)) {
    ScoredNeighbour& one =
        found.emplace_back(ScoredNeighbour{.id = near.id, .distance = near.distance});
    codes->CopyCode(codes->FindSlot(near.id).value(), code.data());
    weights.Score(0, code, &one.score);
  }
  const auto most = std::min<ptrdiff_t>(std::ssize(found), k);
  std::partial_sort(found.begin(), found.begin() + most, found.end(),
                    [](const ScoredNeighbour& a, const ScoredNeighbour& b) {
                      return a.distance != b.distance ? a.distance < b.distance : a < b;
                    });
  found.resize(static_cast<size_t>(most));
  return found;
}

}  // namespace

std::vector<QueryMatch> QueryLibrary(const Library& library, const PictureCode& query, int64_t k,
                                     QueryOrder order, const RunContext& context) {
  const CodeIndex& index = library.index();
  CheckQuery(query, k, index.bits());
  const std::vector<ScoredNeighbour> found =
      order == QueryOrder::kHamming
          ? ByHamming(index, query, k, context)
          : index
                .SearchReal(query.projection, std::min<int64_t>(k, index.size()),
                            {.how = RealSearch::kExact}, context)
                .neighbours;
  std::vector<QueryMatch> matches;
  for (const ScoredNeighbour& near : found) {
    auto picture = library.catalogue().FindById(static_cast<uint64_t>(near.id));
    if (!picture) continue;
    matches.push_back(
        {.picture = *std::move(picture), .distance = near.distance, .score = near.score});
  }
  return matches;
}

}  // namespace bitpool
