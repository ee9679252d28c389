#include "bitpool/pipeline/library_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>

#include "bitpool/base/error.h"

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

// Sums of |h| over the bits that differ, looked up byte by byte.
class FinerDistance {
 public:
  explicit FinerDistance(const PictureCode& query)
      : query_(query.code), sums_(query.code.size()), code_(query.code.size()) {
    for (Index bit = 0; bit < query.projection.size(); ++bit) {
      const double weight = std::abs(query.projection[bit]);
      for (size_t differing = 0; differing < 256; ++differing) {
        if ((differing >> (bit % 8) & 1) != 0) {
          sums_[static_cast<size_t>(bit / 8)][differing] += weight;
        }
      }
    }
  }

  double operator()(const CodeSegment& codes, size_t slot) {
    codes.CopyCode(slot, code_.data());
    double sum = 0;
    for (size_t i = 0; i < code_.size(); ++i) sum += sums_[i][code_[i] ^ query_[i]];
    return sum;
  }

 private:
  std::vector<uint8_t> query_;
  std::vector<std::array<double, 256>> sums_;
  std::vector<uint8_t> code_;
};

struct Candidate {
  int distance;
  double finer;
  int64_t id;

  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(a.distance, a.finer, a.id) < std::tie(b.distance, b.finer, b.id);
  }
};

// All within the distance of the k-th nearest.
std::vector<Neighbour> NearestWithTies(const CodeIndex& index, const BinaryCodes& query, int64_t k,
                                       const RunContext& context) {
  k = std::min<int64_t>(k, index.size());
  if (k == 0) return {};
  const int radius = index.Search(query, k, context).neighbours.back().distance;
  return index.RangeSearch(query, radius, context).front();
}

}  // namespace

std::vector<QueryMatch> QueryLibrary(const Library& library, const PictureCode& query, int64_t k,
                                     const RunContext& context) {
  const CodeIndex& index = library.index();
  CheckQuery(query, k, index.bits());
  const std::shared_ptr<const CodeSegment> codes = index.Compacted();
  FinerDistance finer(query);
  std::vector<Candidate> candidates;
  for (const Neighbour& near :
       NearestWithTies(index, BinaryCodes(index.bits(), query.code), k, context)) {
    candidates.push_back({.distance = near.distance,
                          .finer = finer(*codes, codes->FindSlot(near.id).value()),
                          .id = near.id});
  }
  const size_t most = std::min(candidates.size(), static_cast<size_t>(k));
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<Index>(most),
                    candidates.end());
  std::vector<QueryMatch> matches;
  for (size_t i = 0; i < most; ++i) {
    auto picture = library.catalogue().FindById(static_cast<uint64_t>(candidates[i].id));
    if (!picture) continue;
    matches.push_back({.picture = *std::move(picture),
                       .distance = candidates[i].distance,
                       .finer = candidates[i].finer});
  }
  return matches;
}

}  // namespace bitpool
