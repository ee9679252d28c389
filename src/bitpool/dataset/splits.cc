#include "bitpool/dataset/splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

void RequireSingleLabels(const Labels& labels) {
  if (!labels.single()) {
    throw Error(ErrorCode::kInvalidArgument, "split by class: expected exactly one class per item");
  }
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

Split ChoosePerClass(const Labels& labels, Index per_class, uint64_t seed) {
  RequireSingleLabels(labels);
  std::vector<std::vector<Index>> members(static_cast<size_t>(labels.class_count()));
  for (Index item = 0; item < labels.size(); ++item)
    members[static_cast<size_t>(labels.of(item)[0])].push_back(item);
  std::vector<bool> chosen(static_cast<size_t>(labels.size()));
  const Random random(seed);
  for (size_t c = 0; c < members.size(); ++c) {
    if (members[c].empty()) continue;  // a number no item uses
    if (static_cast<Index>(members[c].size()) < per_class) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("split by class: class {} has {} items, expected at least {}", c,
                              members[c].size(), per_class));
    }
    for (const uint64_t member :
         random.Fork(c).Sample(members[c].size(), static_cast<uint64_t>(per_class))) {
      chosen[static_cast<size_t>(members[c][member])] = true;
    }
  }
  return FromFlags(chosen);
}

ClassSplit ChooseClasses(const Labels& labels, double share, uint64_t seed) {
  RequireSingleLabels(labels);
  std::vector<bool> used(static_cast<size_t>(labels.class_count()));
  for (Index item = 0; item < labels.size(); ++item)
    used[static_cast<size_t>(labels.of(item)[0])] = true;
  std::vector<int32_t> classes;
  for (size_t c = 0; c < used.size(); ++c) {
    if (used[c]) classes.push_back(static_cast<int32_t>(c));
  }
  if (classes.size() < 2) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("split of classes: expected at least 2 classes, found {}", classes.size()));
  }
  const auto wanted = std::lround(share * static_cast<double>(classes.size()));
  const auto count =
      static_cast<size_t>(std::clamp<long>(wanted, 1, static_cast<long>(classes.size()) - 1));
  Random(seed).Shuffle(classes);
  classes.resize(count);
  std::sort(classes.begin(), classes.end());
  std::vector<bool> chosen(static_cast<size_t>(labels.size()));
  for (Index item = 0; item < labels.size(); ++item) {
    chosen[static_cast<size_t>(item)] =
        std::binary_search(classes.begin(), classes.end(), labels.of(item)[0]);
  }
  return {.chosen_classes = classes, .items = FromFlags(chosen)};
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
