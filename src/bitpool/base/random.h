#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bitpool/base/matrix.h"

namespace bitpool {

// A small random generator (xoshiro256**, seeded through SplitMix64) whose numbers are the same on
// every machine and standard library, which those of <random>'s distributions are not. Not for
// secrets.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();                 // 64 uniform bits
  uint64_t Below(uint64_t bound);  // uniform in [0, bound), without bias. REQUIRES: bound > 0
  double Uniform();                // uniform in [0, 1)
  double Normal();                 // mean 0, variance 1

  // A generator for part `stream` of a job, so that parts can run in any order and at any number of
  // threads.
  Random Fork(uint64_t stream) const;

  template <class T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[Below(i)]);
  }

  // `count` different numbers of [0, population), in random order. REQUIRES: count <= population
  std::vector<uint64_t> Sample(uint64_t population, uint64_t count);

  MatrixF NormalMatrix(Index rows, Index cols);

 private:
  uint64_t state_[4];
};

}  // namespace bitpool
