#include "bitpool/codes/binary_codes.h"

#include <gtest/gtest.h>

#include <limits>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"

namespace bitpool {
namespace {

TEST(BinaryCodes, BitOrderIsThatOfFaiss) {
  MatrixF values = MatrixF::Constant(11, 2, -1.0F);
  values(0, 0) = 1;   // byte 0, bit 0
  values(9, 0) = 0;   // byte 1, bit 1: zero counts as positive
  values(10, 1) = 5;  // byte 1, bit 2
  const BinaryCodes codes = BinaryCodes::FromSigns(values);
  EXPECT_EQ(codes.bits(), 11);
  EXPECT_EQ(codes.size(), 2);
  EXPECT_EQ(codes.ToHex(0), "0102");
  EXPECT_EQ(codes.ToHex(1), "0004");
}

TEST(BinaryCodes, SignsOfEveryLength) {
  Random random(1);
  for (int bits = 1; bits <= 70; ++bits) {
    const MatrixF values = random.NormalMatrix(bits, 5);
    const BinaryCodes codes = BinaryCodes::FromSigns(values);
    for (Index c = 0; c < 5; ++c) {
      for (Index i = 0; i < bits; ++i) {
        const int bit = codes.code(c)[static_cast<size_t>(i / 8)] >> (i % 8) & 1;
        ASSERT_EQ(bit, values(i, c) >= 0 ? 1 : 0);
      }
    }
    // Building from the rows again checks that nothing is set beyond the length.
    EXPECT_EQ(BinaryCodes(bits, {codes.rows().begin(), codes.rows().end()}).size(), 5);
  }
}

TEST(BinaryCodes, HexGoesBothWays) {
  const BinaryCodes codes = BinaryCodes::FromHex(20, {"00ff0a", "123401"});
  EXPECT_EQ(codes.ToHex(0), "00ff0a");
  EXPECT_EQ(codes.ToHex(1), "123401");
  EXPECT_THROW(BinaryCodes::FromHex(20, {"00ff"}), Error);
  EXPECT_THROW(BinaryCodes::FromHex(20, {"00ffgg"}), Error);
  EXPECT_THROW(BinaryCodes::FromHex(20, {"00ff1f"}), Error);  // bit 20 is set
}

TEST(BinaryCodes, RefusesWhatIsNoCode) {
  for (const int bits : {0, -1, kMaxBits + 1}) EXPECT_THROW(BinaryCodes{bits}, Error) << bits;
  EXPECT_THROW(BinaryCodes(16, {1, 2, 3}), Error);
  EXPECT_THROW(BinaryCodes(9, {1, 2}), Error);
  EXPECT_THROW(BinaryCodes::FromSigns(MatrixF(0, 3)), Error);
  EXPECT_THROW(
      BinaryCodes::FromSigns(MatrixF::Constant(3, 1, std::numeric_limits<float>::quiet_NaN())),
      Error);
}

TEST(HammingDistance, CountsDifferentBits) {
  Random random(2);
  for (size_t bytes = 0; bytes < 40; ++bytes) {
    std::vector<uint8_t> a(bytes), b(bytes);
    int expected = 0;
    for (size_t i = 0; i < bytes; ++i) {
      a[i] = static_cast<uint8_t>(random.Next());
      b[i] = static_cast<uint8_t>(random.Next());
      for (int bit = 0; bit < 8; ++bit) expected += (a[i] ^ b[i]) >> bit & 1;
    }
    EXPECT_EQ(HammingDistance(a, b), expected);
  }
}

}  // namespace
}  // namespace bitpool
