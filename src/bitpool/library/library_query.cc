#include "bitpool/library/library_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/codes/asymmetric_scan.h"
#include "bitpool/codes/binary_codes.h"

namespace bitpool {
namespace {

void CheckLength(const PictureCode& query, int bits) {
  if (query.code.size() == BytesPerCode(bits) && query.projection.size() == bits) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("the query has a code of {} bytes and {} projections: expected those of "
                          "{} bits",
                          query.code.size(), query.projection.size(), bits));
}

// All within the distance of the k-th nearest.
std::vector<Neighbour> NearestWithTies(const IndexSnapshot& index, const BinaryCodes& query,
                                       int64_t k, const RunContext& context) {
  k = std::min<int64_t>(k, index.size());
  if (k == 0) return {};
  const int radius = index.Search(query, k, context).neighbours.back().distance;
  return index.RangeSearch(query, radius, context).front();
}

// By (distance, descending score, id). All codes as near as the k-th are compared before the list
// is cut.
std::vector<ScoredNeighbour> ByHamming(const IndexSnapshot& index, const PictureCode& query,
                                       int64_t k, const RunContext& context) {
  const RealQueries weights(query.projection);
  std::vector<ScoredNeighbour> found;
  std::vector<uint8_t> code(query.code.size());
  for (const Neighbour& near :
       NearestWithTies(index, BinaryCodes(index.bits(), query.code), k, context)) {
    ScoredNeighbour& one =
        found.emplace_back(ScoredNeighbour{.id = near.id, .distance = near.distance});
    index.CopyCode(near.id, code);
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

std::vector<ScoredNeighbour> ByScore(const IndexSnapshot& index, const PictureCode& query,
                                     int64_t k, const RunContext& context) {
  return index
      .SearchReal(query.projection, std::min<int64_t>(k, index.size()), {.how = RealSearch::kExact},
                  context)
      .neighbours;
}

}  // namespace

void QueryOptions::Validate() const {
  if (k >= 1) return;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("k: expected 1 or more, got {}", k));
}

std::vector<QueryMatch> QueryLibrary(const LibrarySnapshot& library, const PictureCode& query,
                                     const QueryOptions& options, const RunContext& context) {
  const IndexSnapshot& index = library.index();
  options.Validate();
  CheckLength(query, index.bits());
  const std::vector<ScoredNeighbour> found = options.order == QueryOrder::kHamming
                                                 ? ByHamming(index, query, options.k, context)
                                                 : ByScore(index, query, options.k, context);
  std::vector<QueryMatch> matches;
  for (const ScoredNeighbour& near : found) {
    auto picture = library.catalogue().FindById(static_cast<uint64_t>(near.id));
    if (!picture) {
      throw Error(ErrorCode::kCorrupt, library.folder().name(),
                  fmt::format("there is a code of picture {}, but no such picture", near.id));
    }
    matches.push_back(
        {.picture = *std::move(picture), .distance = near.distance, .score = near.score});
  }
  return matches;
}

std::vector<QueryMatch> MergeMatches(std::vector<QueryMatch> straight,
                                     std::vector<QueryMatch> mirrored,
                                     const QueryOptions& options) {
  for (QueryMatch& match : mirrored) {
    match.mirrored = true;
    straight.push_back(std::move(match));
  }
  std::ranges::stable_sort(straight, {}, [&](const QueryMatch& match) {
    const int distance = options.order == QueryOrder::kHamming ? match.distance : 0;
    return std::tuple(distance, -match.score, match.picture.id);
  });
  std::unordered_set<uint64_t> seen;
  std::erase_if(straight,
                [&](const QueryMatch& match) { return !seen.insert(match.picture.id).second; });
  if (std::cmp_greater(straight.size(), options.k)) {
    straight.resize(static_cast<size_t>(options.k));
  }
  return straight;
}

std::vector<QueryMatch> QueryById(const LibrarySnapshot& library, uint64_t id,
                                  const QueryOptions& options, const RunContext& context) {
  options.Validate();
  if (options.mirrored) {
    throw Error(ErrorCode::kInvalidArgument, "mirrored: expected a picture to be mirrored");
  }
  const int bits = library.index().bits();
  PictureCode query;
  query.code.resize(BytesPerCode(bits));
  if (!library.index().CopyCode(static_cast<int64_t>(id), query.code)) {
    throw Error(ErrorCode::kNotFound, library.folder().name(),
                fmt::format("there is no picture {} with a code", id));
  }
  query.projection.resize(bits);
  for (int bit = 0; bit < bits; ++bit) {
    const bool set = (query.code[static_cast<size_t>(bit / 8)] >> (bit % 8) & 1) != 0;
    query.projection[bit] = set ? 1.0F : -1.0F;
  }
  // One more, because the picture itself is among them, or that many others are as near.
  std::vector<QueryMatch> matches = QueryLibrary(
      library, query,
      {.k = std::min<int64_t>(options.k, library.index().size()) + 1, .order = options.order},
      context);
  const auto self =
      std::ranges::find(matches, id, [](const auto& match) { return match.picture.id; });
  matches.erase(self == matches.end() ? matches.end() - 1 : self);
  return matches;
}

}  // namespace bitpool
