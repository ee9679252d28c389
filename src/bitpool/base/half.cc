#include "bitpool/base/half.h"

#include <bit>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bitpool {
namespace {

constexpr uint32_t kHalfExponent = 0x7c00;

#if defined(__x86_64__)
constexpr size_t kLanes = 8;

// Both convert the longest prefix that fills whole registers and return its length.
[[gnu::target("avx,f16c")]] size_t HalfToFloatF16c(std::span<const uint16_t> in, float* out) {
  size_t i = 0;
  for (; i + kLanes <= in.size(); i += kLanes) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in.data() + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
  }
  return i;
}

[[gnu::target("avx,f16c")]] size_t FloatToHalfF16c(std::span<const float> in, uint16_t* out) {
  size_t i = 0;
  for (; i + kLanes <= in.size(); i += kLanes) {
    const __m128i halves =
        _mm256_cvtps_ph(_mm256_loadu_ps(in.data() + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), halves);
  }
  return i;
}

// __builtin_cpu_supports does not know "f16c" in every compiler; every processor with AVX2 has it.
bool HasF16c() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}
#endif

}  // namespace

float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half & kHalfExponent) >> 10;
  const uint32_t mantissa = half & 0x3ff;
  if (exponent == 0) {  // zero or subnormal: mantissa × 2⁻²⁴, exact in single precision
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  if (exponent == 31) {  // infinity, or a NaN, which is made quiet as the processor does
    const uint32_t quiet = mantissa != 0 ? 0x400000 : 0;
    return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13 | quiet);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) {  // NaN, made quiet
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  }
  if (magnitude >= 0x47800000) {  // 65536 and beyond
    return static_cast<uint16_t>(sign | kHalfExponent);
  }
  if (magnitude <
      0x38800000) {  // below 2⁻¹⁴: the half is subnormal; adding 0.5 makes the FPU round it for us
    const float rounded = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(
        sign | (std::bit_cast<uint32_t>(rounded) - std::bit_cast<uint32_t>(0.5F)));
  }
  const uint32_t odd = magnitude >> 13 & 1;  // round to nearest, ties to even
  const uint32_t rounded = magnitude - (112U << 23) + 0xfff + odd;
  return static_cast<uint16_t>(sign | rounded >> 13);
}

void HalfToFloat(std::span<const uint16_t> in, std::span<float> out) {
  size_t i = 0;
#if defined(__x86_64__)
  if (HasF16c()) i = HalfToFloatF16c(in, out.data());
#endif
  for (; i < in.size(); ++i) out[i] = HalfToFloat(in[i]);
}

void FloatToHalf(std::span<const float> in, std::span<uint16_t> out) {
  size_t i = 0;
#if defined(__x86_64__)
  if (HasF16c()) i = FloatToHalfF16c(in, out.data());
#endif
  for (; i < in.size(); ++i) out[i] = FloatToHalf(in[i]);
}

bool AllFinite(std::span<const uint16_t> halves) {
  bool finite = true;  // no early exit: the loop vectorises and data is almost always good
  for (const uint16_t half : halves) finite &= (half & kHalfExponent) != kHalfExponent;
  return finite;
}

}  // namespace bitpool
