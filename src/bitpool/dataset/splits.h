#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/dataset/labels.h"

namespace bitpool {

// Divisions of a set that depend on the seed alone. Items are numbers from 0 and come out
// ascending.

struct Split {
  std::vector<Index> chosen;
  std::vector<Index> rest;
};

// `count` items drawn at random, and the others. Throws kInvalidArgument when there are fewer.
Split ChooseItems(Index items, Index count, uint64_t seed);

// `per_class` items of every class, and the others. Throws kInvalidArgument, naming the class, when
// it has fewer, or when an item has not exactly one class.
Split ChoosePerClass(const Labels& labels, Index per_class, uint64_t seed);

// A share of the classes is set apart: their items are `chosen`. At least one class stays on each
// side. Throws kInvalidArgument when there are fewer than two classes.
struct ClassSplit {
  std::vector<int32_t> chosen_classes;
  Split items;
};
ClassSplit ChooseClasses(const Labels& labels, double share, uint64_t seed);

// Divides the items into `folds` parts whose sizes differ by at most one, for cross-validation.
std::vector<std::vector<Index>> MakeFolds(Index items, Index folds, uint64_t seed);

}  // namespace bitpool
