#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/matrix.h"

namespace bitpool {

// Divisions of a set that depend on the seed alone. Items are numbers from 0 and come out
// ascending.

struct Split {
  std::vector<Index> chosen;
  std::vector<Index> rest;
};

// `count` items drawn at random, and the others. Throws kInvalidArgument when there are fewer.
Split ChooseItems(Index items, Index count, uint64_t seed);

}  // namespace bitpool
