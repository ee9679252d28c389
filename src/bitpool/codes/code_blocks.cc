#include "bitpool/codes/code_blocks.h"

#include <algorithm>

namespace bitpool {

void PackBlock(std::span<const uint8_t> rows, size_t bytes_per_code, uint8_t* block) {
  const size_t count = rows.size() / bytes_per_code;
  for (size_t j = 0; j < bytes_per_code; ++j) {
    uint8_t* plane = block + j * kBlockCodes;
    for (size_t i = 0; i < count; ++i) plane[i] = rows[i * bytes_per_code + j];
    std::fill(plane + count, plane + kBlockCodes, uint8_t{0});
  }
}

void UnpackCode(const uint8_t* block, size_t bytes_per_code, size_t lane, uint8_t* code) {
  for (size_t j = 0; j < bytes_per_code; ++j) code[j] = block[j * kBlockCodes + lane];
}

}  // namespace bitpool
