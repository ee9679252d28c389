#include "float_loop.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace bitpool::bench {

// Compiled with -ffast-math: the compiler may add in any order, and so in vectors.
[[gnu::target_clones("arch=skylake-avx512", "avx2", "default")]] int64_t FloatLoop(
    std::span<const int8_t> codes, std::span<const float> weights, size_t k) {
  std::vector<std::pair<float, int64_t>> heap(k, {std::numeric_limits<float>::max(), -1});
  const size_t bits = weights.size();
  const size_t count = codes.size() / bits;
  const int8_t* code = codes.data();
  for (size_t i = 0; i < count; ++i, code += bits) {
    float penalty = 0;
    for (size_t j = 0; j < bits; ++j) penalty -= weights[j] * static_cast<float>(code[j]);
    if (penalty < heap.front().first) {
      std::pop_heap(heap.begin(), heap.end());
      heap.back() = {penalty, static_cast<int64_t>(i)};
      std::push_heap(heap.begin(), heap.end());
    }
  }
  return heap.front().second;
}

}  // namespace bitpool::bench
