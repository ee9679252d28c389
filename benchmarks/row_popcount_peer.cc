#include "row_popcount_peer.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 warns of its own intrinsics, which use a vector of any content on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace bitpool::bench {

#if defined(__x86_64__)

namespace {

// The instructions that these functions need; they run only where HaveRowPopcount says so.
#define ROW_TARGET [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq")]]

// Keeps the k least distances, each with the first of its eight codes.
class Heap {
 public:
  explicit Heap(size_t k) : k_(k) { best_.reserve(k + 1); }

  int64_t limit() const { return best_.size() < k_ ? INT64_MAX : best_.front().first; }

  void Add(int64_t distance, int64_t id) {
    if (distance >= limit()) return;
    best_.emplace_back(distance, id);
    std::push_heap(best_.begin(), best_.end());
    if (best_.size() <= k_) return;
    std::pop_heap(best_.begin(), best_.end());
    best_.pop_back();
  }

  int64_t farthest() const { return best_.empty() ? -1 : best_.front().first; }

 private:
  size_t k_;
  std::vector<std::pair<int64_t, int64_t>> best_;
};

// The distances of eight codes of kWords words, in any order: their words are counted in as many
// vectors as a code has words, and neighbouring counts added until one vector is left.
template <size_t kWords>
ROW_TARGET inline __m512i EightDistances(const uint8_t* rows, __m512i query) {
  __m512i sums[kWords];
  for (size_t v = 0; v < kWords; ++v) {
    const __m512i words = _mm512_loadu_si512(rows + 64 * v);
    sums[v] = _mm512_popcnt_epi64(_mm512_xor_si512(words, query));
  }
  if constexpr (kWords >= 2) {
    for (size_t v = 0; v < kWords / 2; ++v) {
      sums[v] = _mm512_add_epi64(_mm512_unpacklo_epi64(sums[2 * v], sums[2 * v + 1]),
                                 _mm512_unpackhi_epi64(sums[2 * v], sums[2 * v + 1]));
    }
  }
  for (size_t left = kWords / 2; left >= 2; left /= 2) {
    for (size_t v = 0; v < left / 2; ++v) {
      const __m512i a = sums[2 * v], b = sums[2 * v + 1];
      sums[v] =
          _mm512_add_epi64(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xDD));
    }
  }
  return sums[0];
}

template <size_t kWords>
ROW_TARGET int64_t Scan(std::span<const uint8_t> rows, const uint8_t* query, size_t k) {
  constexpr size_t kBytes = 8 * kWords;
  alignas(64) uint8_t repeated[64];
  for (size_t i = 0; i < 64; i += kBytes) std::memcpy(repeated + i, query, kBytes);
  const __m512i q = _mm512_load_si512(repeated);
  const size_t count = rows.size() / kBytes;
  Heap heap(k);
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m512i distances = EightDistances<kWords>(rows.data() + i * kBytes, q);
    const __m512i limit = _mm512_set1_epi64(heap.limit());
    if (_mm512_cmplt_epi64_mask(distances, limit) == 0) continue;
    alignas(64) int64_t eight[8];
    _mm512_store_si512(eight, distances);
    for (const int64_t distance : eight) heap.Add(distance, static_cast<int64_t>(i));
  }
  for (; i < count; ++i) {
    int64_t distance = 0;
    for (size_t j = 0; j < kBytes; ++j)
      distance += __builtin_popcount(static_cast<unsigned>(rows[i * kBytes + j] ^ query[j]));
    heap.Add(distance, static_cast<int64_t>(i));
  }
  return heap.farthest();
}

}  // namespace

bool HaveRowPopcount(size_t bytes_per_code) {
  const bool length =
      bytes_per_code == 8 || bytes_per_code == 16 || bytes_per_code == 32 || bytes_per_code == 64;
  return length && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vpopcntdq");
}

int64_t RowPopcountScan(std::span<const uint8_t> rows, size_t bytes_per_code, const uint8_t* query,
                        size_t k) {
  switch (bytes_per_code) {
    case 8:
      return Scan<1>(rows, query, k);
    case 16:
      return Scan<2>(rows, query, k);
    case 32:
      return Scan<4>(rows, query, k);
    default:
      return Scan<8>(rows, query, k);
  }
}

#else

bool HaveRowPopcount(size_t) { return false; }
int64_t RowPopcountScan(std::span<const uint8_t>, size_t, const uint8_t*, size_t) { return -1; }

#endif

}  // namespace bitpool::bench
