#include "bitpool/features/pixels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

TEST(PixelColumns, ScalesToOne) {
  const std::vector<uint8_t> pixels = {0, 51, 255, 1, 128, 254};
  const MatrixF columns = PixelColumns(pixels, 3);
  MatrixF expected(3, 2);
  expected << 0, 1 / 255.0F, 51 / 255.0F, 128 / 255.0F, 1, 254 / 255.0F;
  EXPECT_EQ(columns, expected);
}

TEST(PixelColumns, NoPictures) {
  const MatrixF columns = PixelColumns({}, 784);
  EXPECT_EQ(columns.rows(), 784);
  EXPECT_EQ(columns.cols(), 0);
}

TEST(PixelColumns, RefusesPartOfAPicture) {
  const std::vector<uint8_t> pixels(7);
  EXPECT_THAT(RefusalOf([&] { PixelColumns(pixels, 3); }),
              HasSubstr("pictures of 3 bytes, 7 bytes are not a whole number"));
  EXPECT_THAT(RefusalOf([&] { PixelColumns(pixels, 0); }), HasSubstr("1 or more, got 0"));
  EXPECT_THAT(RefusalOf([&] { PixelColumns(pixels, -7); }), HasSubstr("1 or more, got -7"));
}

TEST(GreyColumns, IsTheMeanOfThePlanes) {
  // Two pictures of two pixels: red, red, green, green, blue, blue.
  const std::vector<uint8_t> planes = {0, 255, 3, 255, 6, 255, 10, 1, 0, 1, 0, 2};
  MatrixF expected(2, 2);
  expected << 3, 10 / 3.0F, 255, 4 / 3.0F;
  EXPECT_EQ(GreyColumns(planes, 2), expected);
}

TEST(GreyColumns, NoPictures) {
  const MatrixF columns = GreyColumns({}, 1024);
  EXPECT_EQ(columns.rows(), 1024);
  EXPECT_EQ(columns.cols(), 0);
}

TEST(GreyColumns, RefusesPartOfAPicture) {
  const std::vector<uint8_t> planes(9);
  EXPECT_THAT(RefusalOf([&] { GreyColumns(planes, 2); }),
              HasSubstr("pictures of 6 bytes, 9 bytes are not a whole number"));
  EXPECT_THAT(RefusalOf([&] { GreyColumns(planes, 0); }), HasSubstr("1 or more"));
  EXPECT_EQ(GreyColumns(planes, 3).cols(), 1);
}

}  // namespace
}  // namespace bitpool
