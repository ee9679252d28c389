#include "bitpool/samples/splits.h"

#include <fmt/format.h>

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

}  // namespace bitpool
