#include "bitpool/features/grey_picture.h"

#include <gtest/gtest.h>

#include <limits>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

TEST(GreyPicture, IsTheLumaOfRec601) {
  const Picture picture = {.width = 3,
                           .height = 2,
                           .pixels = {255, 0, 0, 0, 255, 0, 0, 0, 255,  //
                                      0, 0, 0, 255, 255, 255, 51, 51, 51}};
  const GreyPicture grey = GreyOf(picture);
  EXPECT_EQ(grey.width, 3);
  EXPECT_EQ(grey.height, 2);
  EXPECT_EQ(grey.pixels, (std::vector<float>{0.299F, 0.587F, 0.114F, 0, 1, 0.2F}));
}

TEST(GreyPicture, RefusesSizesThatDoNotAgree) {
  const auto grey = [](Index width, Index height, size_t values) {
    return GreyOf({.width = width, .height = height, .pixels = std::vector<uint8_t>(values)});
  };
  EXPECT_EQ(grey(2, 3, 18).pixels.size(), 6);
  EXPECT_THROW(grey(0, 0, 0), Error);
  EXPECT_THROW(grey(2, 3, 17), Error);
  EXPECT_THROW(grey(2, 3, 21), Error);
  EXPECT_THROW(grey(2, 3, 6), Error);
  EXPECT_THROW(grey(-2, -3, 18), Error);
  EXPECT_THROW(grey(6, 0, 18), Error);
  EXPECT_THROW(grey(4, 1, 18), Error);
  // A product that overflows to the right number.
  EXPECT_THROW(grey(Index{1} << 62, 4, 0), Error);
}

}  // namespace
}  // namespace bitpool
