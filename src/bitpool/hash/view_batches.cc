#include "bitpool/hash/view_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "bitpool/base/error.h"

namespace bitpool {

Index BatchesOf(Index pictures, Index batch) { return std::max<Index>(1, pictures / batch); }

std::vector<ViewPairs> DrawViewPairs(Index pictures, Index per_picture, Index batch,
                                     Random random) {
  std::vector<Index> order(static_cast<size_t>(pictures));
  std::iota(order.begin(), order.end(), Index{0});
  random.Shuffle(order);
  std::vector<ViewPairs> batches(static_cast<size_t>(BatchesOf(pictures, batch)));
  for (size_t i = 0; i < order.size(); ++i) {
    const auto first = static_cast<Index>(random.Below(static_cast<uint64_t>(per_picture)));
    const auto other = static_cast<Index>(random.Below(static_cast<uint64_t>(per_picture - 1)));
    ViewPairs& pairs = batches[i % batches.size()];
    pairs.push_back(order[i] * per_picture + first);
    pairs.push_back(order[i] * per_picture + other + (other >= first ? 1 : 0));
  }
  return batches;
}

void RequireViews(Index images, Index per_picture) {
  if (per_picture < 2 || images < 2 * per_picture) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("learning from views: expected at least 2 pictures with at least 2 images of "
                    "each (itself and its views), got {} with {}",
                    per_picture < 1 ? 0 : images / per_picture, per_picture));
  }
  if (images % per_picture == 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} images: expected {} of every picture, a multiple of that", images,
                          per_picture));
}

}  // namespace bitpool
