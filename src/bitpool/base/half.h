#pragma once

#include <cstdint>
#include <span>

namespace bitpool {

// IEEE 754 half precision, used to store descriptors at half the size. Both use the processor's
// F16C instructions where it has them and give the same bits where it does not.

// REQUIRES: out.size() == in.size().
void HalfToFloat(std::span<const uint16_t> in, std::span<float> out);

// Rounds to nearest, ties to even; values beyond ±65504 become infinite, so check the result with
// AllFinite. REQUIRES: out.size() == in.size().
void FloatToHalf(std::span<const float> in, std::span<uint16_t> out);

// False when any value is infinite or not a number.
bool AllFinite(std::span<const uint16_t> halves);

// The portable forms, which the tests compare with the fast ones.
float HalfToFloat(uint16_t half);
uint16_t FloatToHalf(float value);

}  // namespace bitpool
