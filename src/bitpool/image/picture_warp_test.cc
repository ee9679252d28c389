#include "bitpool/image/picture_warp.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "bitpool/base/random.h"
#include "bitpool/image/testing.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::SamePicture;

Picture RandomPicture(Index width, Index height, uint64_t seed) {
  Picture picture{.width = width, .height = height, .pixels = {}};
  Random random(seed);
  for (Index i = 0; i < 3 * width * height; ++i) {
    picture.pixels.push_back(static_cast<uint8_t>(random.Below(256)));
  }
  return picture;
}

Picture White(Index width, Index height) {
  return {.width = width,
          .height = height,
          .pixels = std::vector<uint8_t>(static_cast<size_t>(3 * width * height), 255)};
}

uint8_t At(const Picture& picture, Index x, Index y, Index channel) {
  return picture.pixels[static_cast<size_t>(3 * (y * picture.width + x) + channel)];
}

Corners WholeOf(const Picture& picture) {
  const auto w = static_cast<double>(picture.width), h = static_cast<double>(picture.height);
  return {{{0, 0}, {w, 0}, {w, h}, {0, h}}};
}

// Every pixel of a view must be the pixel of the picture at from(x, y).
void ExpectPixels(const Picture& view, const Picture& picture,
                  const std::function<std::pair<Index, Index>(Index, Index)>& from) {
  for (Index y = 0; y < view.height; ++y) {
    for (Index x = 0; x < view.width; ++x) {
      const auto [column, row] = from(x, y);
      for (Index channel = 0; channel < 3; ++channel) {
        ASSERT_EQ(At(view, x, y, channel), At(picture, column, row, channel)) << x << ", " << y;
      }
    }
  }
}

TEST(Warp, TheWholePictureInItsSizeIsThePicture) {
  for (const auto& [width, height] : {std::pair<Index, Index>{1, 1}, {1, 50}, {31, 17}, {64, 48}}) {
    const Picture picture = RandomPicture(width, height, 1);
    EXPECT_TRUE(SamePicture(Warp(picture, WholeOf(picture), width, height), picture));
  }
}

TEST(Warp, TheOrderOfTheCornersTurnsAndMirrors) {
  const Picture picture = RandomPicture(23, 14, 2);
  const auto [p, q, r, s] = WholeOf(picture);
  const Picture turned = Warp(picture, {s, p, q, r}, 14, 23);  // clockwise
  ExpectPixels(turned, picture, [](Index x, Index y) { return std::pair(y, 13 - x); });
  const Picture mirrored = Warp(picture, {q, p, s, r}, 23, 14);
  ExpectPixels(mirrored, picture, [](Index x, Index y) { return std::pair(22 - x, y); });
  const Picture upside_down = Warp(picture, {r, s, p, q}, 23, 14);
  ExpectPixels(upside_down, picture, [](Index x, Index y) { return std::pair(22 - x, 13 - y); });
}

TEST(Warp, APartThatLiesOnPixelsIsThosePixels) {
  const Picture picture = RandomPicture(23, 14, 3);
  const Picture part = Warp(picture, {{{5, 2}, {15, 2}, {15, 12}, {5, 12}}}, 10, 10);
  ExpectPixels(part, picture, [](Index x, Index y) { return std::pair(x + 5, y + 2); });
}

TEST(Warp, HalfTheSizeIsTheMeanOfFour) {
  const Picture picture = RandomPicture(16, 8, 4);
  const Picture half = Warp(picture, WholeOf(picture), 8, 4);
  for (Index y = 0; y < 4; ++y) {
    for (Index x = 0; x < 8; ++x) {
      for (Index channel = 0; channel < 3; ++channel) {
        const int sum =
            At(picture, 2 * x, 2 * y, channel) + At(picture, 2 * x + 1, 2 * y, channel) +
            At(picture, 2 * x, 2 * y + 1, channel) + At(picture, 2 * x + 1, 2 * y + 1, channel);
        ASSERT_EQ(At(half, x, y, channel), (sum + 2) / 4);
      }
    }
  }
}

// Between the centres of two pixels, 0 and 100, a picture of twice the size has a quarter and three
// quarters of the way; beyond the outermost centres it goes on.
TEST(Warp, TwiceTheSizeInterpolates) {
  const Picture two{.width = 2, .height = 1, .pixels = {0, 0, 0, 100, 200, 40}};
  const Picture four = Warp(two, WholeOf(two), 4, 1);
  EXPECT_EQ(four.pixels, (std::vector<uint8_t>{0, 0, 0, 25, 50, 10, 75, 150, 30, 100, 200, 40}));
}

// The right side of the shape is half as long as the left one, so what is seen there is twice as
// far: x = 24u / (1 + u), y = (6u + 12v) / (1 + u). The middle of the view is at x = 8.
TEST(Warp, SeesAsACameraDoes) {
  Picture picture{.width = 12, .height = 12, .pixels = {}};
  for (Index y = 0; y < 12; ++y) {
    for (Index x = 0; x < 12; ++x) {
      for (const Index value : {20 * x, 20 * y, Index{7}}) {
        picture.pixels.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  const Picture view = Warp(picture, {{{0, 0}, {12, 3}, {12, 9}, {0, 12}}}, 13, 13);
  EXPECT_EQ(At(view, 6, 6, 0), 150);
  EXPECT_EQ(At(view, 6, 6, 1), 110);
  for (Index row = 0; row < 13; ++row) {
    for (Index column = 0; column < 13; ++column) {
      const double u = (static_cast<double>(column) + 0.5) / 13;
      const double v = (static_cast<double>(row) + 0.5) / 13;
      const double x = std::clamp(24 * u / (1 + u) - 0.5, 0.0, 11.0);
      const double y = std::clamp((6 * u + 12 * v) / (1 + u) - 0.5, 0.0, 11.0);
      EXPECT_NEAR(At(view, column, row, 0), 20 * x, 0.51);
      EXPECT_NEAR(At(view, column, row, 1), 20 * y, 0.51);
      EXPECT_EQ(At(view, column, row, 2), 7);
    }
  }
}

TEST(Warp, OutsideEverythingIsBlack) {
  const Picture view = Warp(White(4, 4), {{{-2, -1}, {2, -1}, {2, 3}, {-2, 3}}}, 4, 4);
  for (Index y = 0; y < 4; ++y) {
    for (Index x = 0; x < 4; ++x) EXPECT_EQ(At(view, x, y, 1), x < 2 || y < 1 ? 0 : 255);
  }
  const Picture far = Warp(White(4, 4), {{{50, 50}, {60, 50}, {60, 60}, {50, 60}}}, 3, 3);
  EXPECT_EQ(far.pixels, std::vector<uint8_t>(27, 0));
  const Picture farther =
      Warp(White(4, 4), {{{1e15, 0}, {2e15, 0}, {2e15, 1e15}, {1e15, 1e15}}}, 2, 2);
  EXPECT_EQ(farther.pixels, std::vector<uint8_t>(12, 0));
}

// Much smaller than the picture: what is sampled with gaps is still all white.
TEST(Warp, AWhitePictureStaysWhiteAtAnySize) {
  for (const auto& [width, height] : {std::pair<Index, Index>{1, 1}, {7, 1}, {300, 3}, {2, 900}}) {
    const Picture view = Warp(White(300, 40), WholeOf(White(300, 40)), width, height);
    EXPECT_EQ(view.width, width);
    EXPECT_EQ(view.height, height);
    EXPECT_TRUE(SamePicture(view, White(width, height)));
  }
}

TEST(Warp, RefusesSizesBelowOne) {
  const Picture picture = White(3, 3);
  for (const auto& [width, height] : {std::pair<Index, Index>{0, 4}, {4, 0}, {-1, 4}}) {
    ExpectError(ErrorCode::kInvalidArgument,
                {"size of a view", std::to_string(width) + " × " + std::to_string(height)},
                [&] { Warp(picture, WholeOf(picture), width, height); });
  }
}

TEST(Warp, RefusesPixelsThatDoNotMatch) {
  for (const Picture& picture : {Picture{.width = 5, .height = 4, .pixels = {1, 2, 3}},
                                 Picture{.width = 0, .height = 0, .pixels = {}},
                                 Picture{.width = -1, .height = -1, .pixels = {1, 2, 3}},
                                 Picture{.width = Index{1} << 62, .height = 4, .pixels = {}}}) {
    ExpectError(ErrorCode::kInvalidArgument, {std::to_string(picture.width) + "×"}, [&] {
      Warp(picture, {{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}, 2, 2);
    });
  }
}

TEST(Warp, RefusesCornersThatAreNoShape) {
  const auto expect_refusal = [](const Corners& corners) {
    ExpectError(ErrorCode::kInvalidArgument, {"corners of a view"},
                [&] { Warp(White(3, 3), corners, 2, 2); });
  };
  expect_refusal({{{0, 0}, {1, 1}, {2, 2}, {3, 3}}});
  expect_refusal({{{0, 0}, {0.1, 0.3}, {0.2, 0.6}, {0.7, 2.1}}});  // on a line but for rounding
  expect_refusal({{{1, 1}, {1, 1}, {1, 1}, {1, 1}}});
  expect_refusal({{{0, 0}, {3, 0}, {3, 3}, {3, 3}}});      // two corners in one
  expect_refusal({{{0, 0}, {3, 0}, {0, 3}, {3, 3}}});      // the sides cross
  expect_refusal({{{2, 2}, {3, 0}, {3, 3}, {0, 3}}});      // not convex
  expect_refusal({{{1.5, 1.5}, {3, 0}, {3, 3}, {0, 3}}});  // a triangle
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (size_t i = 0; i < 4; ++i) {
      Corners corners = WholeOf(White(3, 3));
      corners[i].x = bad;
      expect_refusal(corners);
      corners = WholeOf(White(3, 3));
      corners[i].y = -bad;
      expect_refusal(corners);
    }
  }
}

}  // namespace
}  // namespace bitpool
