#include "bitpool/samples/splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"

namespace bitpool {
namespace {

Split FromFlags(const std::vector<bool>& chosen) {
  Split split;
  for (size_t i = 0; i < chosen.size(); ++i)
    (chosen[i] ? split.chosen : split.rest).push_back(static_cast<Index>(i));
  return split;
}

}  // namespace

Split ChooseItems(Index items, Index count, uint64_t seed) {
  if (count < 0 || count > items) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("split: cannot choose {} of {} items", count, items));
  }
  std::vector<bool> chosen(static_cast<size_t>(items));
  for (const uint64_t item :
       Random(seed).Sample(static_cast<uint64_t>(items), static_cast<uint64_t>(count))) {
    chosen[item] = true;
  }
  return FromFlags(chosen);
}

std::vector<std::vector<Index>> MakeFolds(Index items, Index folds, uint64_t seed) {
  if (folds < 2 || folds > items) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("folds: cannot divide {} items into {} parts", items, folds));
  }
  std::vector<Index> order(static_cast<size_t>(items));
  std::iota(order.begin(), order.end(), Index{0});
  Random(seed).Shuffle(order);
  std::vector<std::vector<Index>> parts(static_cast<size_t>(folds));
  for (size_t i = 0; i < order.size(); ++i) parts[i % parts.size()].push_back(order[i]);
  for (std::vector<Index>& part : parts) std::sort(part.begin(), part.end());
  return parts;
}

}  // namespace bitpool
