#include "bitpool/codes/sign_bits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/codes/hamming_scan.h"

namespace bitpool {
namespace {

// One value after another, as the header says.
std::vector<uint8_t> SlowPack(const MatrixF& values) {
  const size_t bytes = BytesPerCode(static_cast<int>(values.rows()));
  std::vector<uint8_t> rows(bytes * static_cast<size_t>(values.cols()));
  for (Index column = 0; column < values.cols(); ++column) {
    for (Index bit = 0; bit < values.rows(); ++bit) {
      uint8_t& byte = rows[static_cast<size_t>(column) * bytes + static_cast<size_t>(bit) / 8];
      if (values(bit, column) >= 0) byte = static_cast<uint8_t>(byte | 1 << (bit % 8));
    }
  }
  return rows;
}

void CheckLength(Index bits) {
  Random random(static_cast<uint64_t>(bits));
  MatrixF values = random.NormalMatrix(bits, 9);
  values(0, 0) = 0.0F;
  values(bits - 1, 1) = -0.0F;
  values(bits / 2, 2) = std::numeric_limits<float>::infinity();
  values(bits / 2, 3) = -std::numeric_limits<float>::denorm_min();
  const std::vector<uint8_t> expected = SlowPack(values);
  std::vector<uint8_t> rows(expected.size(), 0xAA);
  EXPECT_EQ(PackSigns(values.data(), bits, 9, rows.data()), 9);
  EXPECT_EQ(rows, expected) << bits;

  MatrixF signs(bits, 9);
  UnpackSigns(rows.data(), bits, 9, signs.data());
  for (Index i = 0; i < signs.size(); ++i) {
    EXPECT_EQ(signs.data()[i], values.data()[i] >= 0 ? 1.0F : -1.0F) << bits;
  }

  values(bits - 1, 4) = std::nanf("");
  values(0, 7) = std::nanf("");
  EXPECT_EQ(PackSigns(values.data(), bits, 9, rows.data()), 4) << bits;
}

TEST(SignBits, PacksAndUnpacksOnEveryTarget) {
  ForEachScanTarget(
      [](const char* target, void*) {
        SCOPED_TRACE(target);
        for (const Index bits : {1, 7, 8, 9, 15, 16, 17, 31, 32, 40, 64, 65, 100, 256, 4096}) {
          CheckLength(bits);
        }
      },
      nullptr);
}

TEST(SignBits, NoColumns) {
  uint8_t row = 7;
  EXPECT_EQ(PackSigns(nullptr, 8, 0, &row), 0);
  EXPECT_EQ(row, 7);
}

}  // namespace
}  // namespace bitpool
