#include "bitpool/codes/aligned_bytes.h"

#include <gtest/gtest.h>

namespace bitpool {
namespace {

TEST(AlignedBytes, AreAligned) {
  for (const size_t size : {size_t{1}, size_t{63}, size_t{1000}, size_t{5} << 20}) {
    AlignedBytes bytes(size);
    EXPECT_EQ(bytes.size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % 64, 0U);
    bytes.data()[size - 1] = 7;
    EXPECT_EQ(bytes.bytes().back(), 7);
  }
  EXPECT_EQ(AlignedBytes().data(), nullptr);
}

}  // namespace
}  // namespace bitpool
