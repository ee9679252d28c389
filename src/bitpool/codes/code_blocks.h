#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bitpool {

// The layout that is scanned: blocks of 64 codes in which byte j of all codes lie together. One
// vector register then holds the same byte of as many codes as it has bytes, distances add up byte
// by byte without crossing lanes, and a block can be given up half way.
inline constexpr size_t kBlockCodes = 64;

constexpr size_t BlockBytes(size_t bytes_per_code) { return kBlockCodes * bytes_per_code; }

// Writes one block from up to 64 rows; missing codes become zeros.
// REQUIRES: rows.size() is a multiple of bytes_per_code, at most 64 of them; block has
// BlockBytes(bytes_per_code).
void PackBlock(std::span<const uint8_t> rows, size_t bytes_per_code, uint8_t* block);

// Byte j of lane i is block[j * 64 + i]. Copies one code out again.
void UnpackCode(const uint8_t* block, size_t bytes_per_code, size_t lane, uint8_t* code);

}  // namespace bitpool
