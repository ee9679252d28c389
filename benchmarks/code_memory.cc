#include "code_memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "bitpool/codes/binary_codes.h"

namespace bitpool::bench {
namespace {

[[gnu::target_clones("avx512f", "avx2", "default")]] uint64_t ReadPiece(
    std::span<const uint8_t> bytes) {
  uint64_t sums[8] = {};
  const size_t whole = bytes.size() / 64 * 64;
  for (size_t i = 0; i < whole; i += 64) {
    uint64_t words[8];
    std::memcpy(words, bytes.data() + i, 64);
    for (size_t j = 0; j < 8; ++j) sums[j] += words[j];
  }
  return std::accumulate(sums, sums + 8, uint64_t{0});
}

}  // namespace

std::vector<uint8_t> DrawUniformCodes(int bits, size_t count, Random& random) {
  const size_t bytes = BytesPerCode(bits);
  std::vector<uint8_t> rows(count * bytes);
  for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random.Next() >> 32);
  if (bits % 8 != 0) {
    for (size_t last = bytes - 1; last < rows.size(); last += bytes) {
      rows[last] = static_cast<uint8_t>(rows[last] & ((1 << (bits % 8)) - 1));
    }
  }
  return rows;
}

uint64_t ReadAll(std::span<const uint8_t> bytes, const RunContext& context) {
  const size_t piece = (bytes.size() / static_cast<size_t>(context.threads()) + 63) / 64 * 64;
  std::atomic<uint64_t> sum = 0;
  context.pool().ParallelFor(
      bytes.size(), std::max<size_t>(piece, 64),
      [&](size_t begin, size_t end) { sum += ReadPiece(bytes.subspan(begin, end - begin)); });
  return sum;
}

}  // namespace bitpool::bench
