#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bitpool::bench {

// The plain scan at its best on this processor: codes in rows, one after the other, in vectors of
// 512 bits whose words are counted at once (AVX-512 with VPOPCNTDQ), and a heap of the k best.
// Shares nothing with the product. Only for codes of 64, 128, 256 or 512 bits.
bool HaveRowPopcount(size_t bytes_per_code);

// Returns the distance of the k-th best code, or of the farthest where there are fewer than k.
// REQUIRES: HaveRowPopcount(bytes_per_code); k > 0
int64_t RowPopcountScan(std::span<const uint8_t> rows, size_t bytes_per_code, const uint8_t* query,
                        size_t k);

}  // namespace bitpool::bench
