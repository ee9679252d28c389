#include "bitpool/codes/code_blocks.h"

#include <gtest/gtest.h>

#include <vector>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

TEST(CodeBlocks, PackedCodesComeOutAgain) {
  Random random(1);
  for (const size_t bytes : {1, 2, 3, 8, 33, 512}) {
    for (const size_t count : {0, 1, 63, 64}) {
      std::vector<uint8_t> rows(count * bytes);
      for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random.Next());
      std::vector<uint8_t> block(BlockBytes(bytes), 0xee);
      PackBlock(rows, bytes, block.data());
      std::vector<uint8_t> code(bytes);
      for (size_t i = 0; i < kBlockCodes; ++i) {
        UnpackCode(block.data(), bytes, i, code.data());
        for (size_t j = 0; j < bytes; ++j) ASSERT_EQ(code[j], i < count ? rows[i * bytes + j] : 0);
      }
    }
  }
}

}  // namespace
}  // namespace bitpool
