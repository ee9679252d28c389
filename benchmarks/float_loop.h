#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bitpool::bench {

// What a plain program does: Σ hᵢbᵢ of every code in single precision, and a heap of the k best. A
// bit is a byte, −1 or +1; floats would take four times the memory, which is slower. Returns the id
// of the worst of the best.
int64_t FloatLoop(std::span<const int8_t> codes, std::span<const float> weights, size_t k);

}  // namespace bitpool::bench
