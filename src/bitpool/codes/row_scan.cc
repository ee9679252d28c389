#include "bitpool/codes/row_scan.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "bitpool/codes/instruction_sets.h"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bitpool/codes/row_scan.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bitpool {
namespace HWY_NAMESPACE {

// Names that other kernels may use too stay local to this file.
namespace {

constexpr size_t kGroup = 8;  // codes that are compared before the first look at their distances

HWY_INLINE uint64_t LoadWord(const uint8_t* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// kBytes is the length of the codes when it is known at compile time, else 0.
template <size_t kBytes>
HWY_INLINE int32_t Distance(const uint8_t* a, const uint8_t* b, size_t bytes, int32_t threshold) {
  const size_t length = kBytes != 0 ? kBytes : bytes;
  int32_t distance = 0;
  size_t i = 0;
  for (; i + 8 <= length; i += 8) {
    distance += std::popcount(LoadWord(a + i) ^ LoadWord(b + i));
    if (kBytes == 0 && distance > threshold) return distance;
  }
  if (i + 4 <= length) {
    uint32_t x = 0, y = 0;
    std::memcpy(&x, a + i, sizeof(x));
    std::memcpy(&y, b + i, sizeof(y));
    distance += std::popcount(x ^ y);
    i += 4;
  }
  for (; i < length; ++i) distance += std::popcount(static_cast<uint32_t>(a[i] ^ b[i]));
  return distance;
}

// Listed codes are often hits, so every one is written after the last hit, where it then counts or
// not: no branch to mispredict.
template <size_t kBytes>
HWY_INLINE size_t Listed(const RowScan& scan, const uint32_t* positions, size_t count) {
  const size_t bytes = kBytes != 0 ? kBytes : scan.bytes_per_code;
  ScanHit* const hits = scan.hits;
  const int32_t threshold = scan.threshold;
  size_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* code = scan.rows + positions[i] * bytes;
    const int32_t distance = Distance<kBytes>(scan.query, code, bytes, threshold);
    hits[found] = {.position = static_cast<uint32_t>(i),
                   .distance = static_cast<uint32_t>(distance)};
    found += distance <= threshold ? 1 : 0;
  }
  return found;
}

// In a scan of all codes hits are rare, so a group of codes has one branch.
template <size_t kBytes>
HWY_INLINE size_t AllOneByOne(const RowScan& scan, size_t begin, size_t count, size_t found) {
  const size_t bytes = kBytes != 0 ? kBytes : scan.bytes_per_code;
  const int32_t threshold = scan.threshold;
  for (; begin < count; begin += kGroup) {
    const size_t group = std::min(kGroup, count - begin);
    int32_t distances[kGroup];
    int32_t nearest = threshold + 1;
    const auto measure = [&](size_t i) HWY_ATTR {
      const uint8_t* code = scan.rows + (begin + i) * bytes;
      distances[i] = Distance<kBytes>(scan.query, code, bytes, threshold);
      nearest = std::min(nearest, distances[i]);
    };
    if (group == kGroup) {  // a loop that the compiler unrolls
      for (size_t i = 0; i < kGroup; ++i) measure(i);
    } else {
      for (size_t i = 0; i < group; ++i) measure(i);
    }
    if (nearest > threshold) continue;
    for (size_t i = 0; i < group; ++i) {
      if (distances[i] > threshold) continue;
      scan.hits[found++] = {.position = static_cast<uint32_t>(begin + i),
                            .distance = static_cast<uint32_t>(distances[i])};
    }
  }
  return found;
}

#if HWY_TARGET == HWY_AVX3_DL

// The processor counts the bits of eight words at once. The counts of eight codes are added up
// across vectors, halving the words of a code each time, until there is one vector of distances.
template <size_t kWords>
struct EightCodes;

// Sums of neighbouring words of both vectors, those of the first in the even places.
HWY_INLINE __m512i AddNeighbours(__m512i a, __m512i b) {
  return _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

// Sums of neighbouring pairs of words, those of the first vector in the lower half.
HWY_INLINE __m512i AddNeighbouringPairs(__m512i a, __m512i b) {
  return _mm512_add_epi64(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xDD));
}

template <>
struct EightCodes<1> {
  static constexpr uint8_t kPlaces[] = {0, 1, 2, 3, 4, 5, 6, 7};  // of the codes, in the result
  static HWY_INLINE __m512i Add(const __m512i* counts) { return counts[0]; }
};
template <>
struct EightCodes<2> {
  static constexpr uint8_t kPlaces[] = {0, 2, 4, 6, 1, 3, 5, 7};
  static HWY_INLINE __m512i Add(const __m512i* counts) {
    return AddNeighbours(counts[0], counts[1]);
  }
};
template <>
struct EightCodes<4> {
  static constexpr uint8_t kPlaces[] = {0, 2, 1, 3, 4, 6, 5, 7};
  static HWY_INLINE __m512i Add(const __m512i* counts) {
    return AddNeighbouringPairs(AddNeighbours(counts[0], counts[1]),
                                AddNeighbours(counts[2], counts[3]));
  }
};
template <>
struct EightCodes<8> {
  static constexpr uint8_t kPlaces[] = {0, 1, 2, 3, 4, 5, 6, 7};
  static HWY_INLINE __m512i Add(const __m512i* counts) {
    return AddNeighbouringPairs(AddNeighbouringPairs(AddNeighbours(counts[0], counts[1]),
                                                     AddNeighbours(counts[2], counts[3])),
                                AddNeighbouringPairs(AddNeighbours(counts[4], counts[5]),
                                                     AddNeighbours(counts[6], counts[7])));
  }
};

template <size_t kBytes>
HWY_INLINE size_t All(const RowScan& scan, size_t count) {
  constexpr size_t kWords = kBytes / 8;
  constexpr size_t kAhead =
      4096;  // bytes; a run of look-ups leaves the memory no pattern to follow
  alignas(64) uint8_t repeated[64];
  for (size_t i = 0; i < 64; ++i) repeated[i] = scan.query[i % kBytes];
  const __m512i query = _mm512_load_si512(repeated);
  const __m512i threshold = _mm512_set1_epi64(scan.threshold);
  size_t found = 0;
  size_t begin = 0;
  for (; begin + kGroup <= count; begin += kGroup) {
    const uint8_t* rows = scan.rows + begin * kBytes;
    __m512i counts[kWords];
    for (size_t v = 0; v < kWords; ++v) {
      __builtin_prefetch(
          reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(rows) + v * 64 + kAhead));
      const __m512i x = _mm512_loadu_si512(rows + v * 64);
      counts[v] = _mm512_popcnt_epi64(_mm512_xor_si512(x, query));
    }
    const __m512i distances = EightCodes<kWords>::Add(counts);
    if (HWY_LIKELY(_mm512_cmple_epi64_mask(distances, threshold) == 0)) continue;
    alignas(64) int64_t stored[kGroup];
    _mm512_store_si512(stored, distances);
    for (size_t i = 0; i < kGroup; ++i) {
      const int64_t distance = stored[EightCodes<kWords>::kPlaces[i]];
      if (distance > scan.threshold) continue;
      scan.hits[found++] = {.position = static_cast<uint32_t>(begin + i),
                            .distance = static_cast<uint32_t>(distance)};
    }
  }
  return AllOneByOne<kBytes>(scan, begin, count, found);
}

template <>
HWY_INLINE size_t All<4>(const RowScan& scan, size_t count) {
  return AllOneByOne<4>(scan, 0, count, 0);
}
template <>
HWY_INLINE size_t All<0>(const RowScan& scan, size_t count) {
  return AllOneByOne<0>(scan, 0, count, 0);
}

#else

template <size_t kBytes>
HWY_INLINE size_t All(const RowScan& scan, size_t count) {
  return AllOneByOne<kBytes>(scan, 0, count, 0);
}

#endif

}  // namespace

size_t ScanAllRows(const RowScan& scan, size_t count) {
  switch (scan.bytes_per_code) {
    case 4:
      return All<4>(scan, count);
    case 8:
      return All<8>(scan, count);
    case 16:
      return All<16>(scan, count);
    case 32:
      return All<32>(scan, count);
    case 64:
      return All<64>(scan, count);
    default:
      return All<0>(scan, count);
  }
}

size_t ScanTheseRows(const RowScan& scan, const uint32_t* positions, size_t count) {
  switch (scan.bytes_per_code) {
    case 4:
      return Listed<4>(scan, positions, count);
    case 8:
      return Listed<8>(scan, positions, count);
    case 16:
      return Listed<16>(scan, positions, count);
    case 32:
      return Listed<32>(scan, positions, count);
    case 64:
      return Listed<64>(scan, positions, count);
    default:
      return Listed<0>(scan, positions, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace bitpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bitpool {

HWY_EXPORT(ScanAllRows);
HWY_EXPORT(ScanTheseRows);

size_t ScanRows(const RowScan& scan, size_t count) {
  return HWY_DYNAMIC_DISPATCH(ScanAllRows)(scan, count);
}

size_t ScanListedRows(const RowScan& scan, const uint32_t* positions, size_t count) {
  return HWY_DYNAMIC_DISPATCH(ScanTheseRows)(scan, positions, count);
}

}  // namespace bitpool
#endif  // HWY_ONCE
