#include "bitpool/io/checksum.h"

#include <gtest/gtest.h>

namespace bitpool {
namespace {

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(Checksum, MatchesTheReference) {
  EXPECT_EQ(Checksum({}), 0x2d06800538d394c2ULL);  // XXH3's published value for no bytes
  EXPECT_EQ(ContentDigest({}), "99aa06d3014798d86001c324468d497f");
}

TEST(Checksum, EveryBitCounts) {
  std::string text = "compact binary codes";
  const uint64_t before = Checksum(Bytes(text));
  const std::string digest = ContentDigest(Bytes(text));
  for (char& letter : text) {
    for (int bit = 0; bit < 8; ++bit) {
      letter = static_cast<char>(letter ^ 1 << bit);
      EXPECT_NE(Checksum(Bytes(text)), before);
      EXPECT_NE(ContentDigest(Bytes(text)), digest);
      letter = static_cast<char>(letter ^ 1 << bit);
    }
  }
}

}  // namespace
}  // namespace bitpool
