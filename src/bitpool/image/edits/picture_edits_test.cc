#include "bitpool/image/edits/picture_edits.h"

#include <algorithm>
#include <set>
#include <string>

#include "bitpool/image/testing.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::MeanDifference;
using testing::SamePicture;
using testing::SmoothPicture;

Picture Uniform(Index width, Index height, uint8_t value) {
  return {.width = width,
          .height = height,
          .pixels = std::vector<uint8_t>(static_cast<size_t>(3 * width * height), value)};
}

uint8_t RedAt(const Picture& picture, Index x, Index y) {
  return picture.pixels[static_cast<size_t>(3 * (y * picture.width + x))];
}

TEST(ApplyEdit, KeepsOrChangesTheSizeAsItSays) {
  const Picture picture = SmoothPicture(200, 100);
  for (const PictureEdit edit : kPictureEdits) {
    const Picture edited = ApplyEdit(edit, picture);
    const double area = static_cast<double>(edited.width * edited.height) / (200 * 100);
    switch (edit) {
      case PictureEdit::kHalfSize:
        EXPECT_EQ(edited.width, 100);
        EXPECT_EQ(edited.height, 50);
        break;
      case PictureEdit::kCropTenth:
        EXPECT_NEAR(area, 0.9, 0.01);
        break;
      case PictureEdit::kCropQuarter:
        EXPECT_NEAR(area, 0.75, 0.01);
        break;
      case PictureEdit::kHalfArea:
        EXPECT_NEAR(area, 0.5, 0.01);
        break;
      case PictureEdit::kTiny:
        EXPECT_EQ(edited.width, 128);
        EXPECT_EQ(edited.height, 64);
        break;
      case PictureEdit::kSquare:
        EXPECT_EQ(edited.width, 100);
        EXPECT_EQ(edited.height, 100);
        break;
      case PictureEdit::kWideBorder:
        EXPECT_EQ(edited.width, 280);
        EXPECT_EQ(edited.height, 140);
        break;
      case PictureEdit::kScreenshot:
        EXPECT_EQ(edited.width, 200);
        EXPECT_EQ(edited.height, 433);
        break;
      default:
        EXPECT_EQ(edited.width, 200) << NameOf(edit);
        EXPECT_EQ(edited.height, 100) << NameOf(edit);
    }
    EXPECT_EQ(edited.pixels.size(), static_cast<size_t>(3 * edited.width * edited.height));
    EXPECT_FALSE(SamePicture(edited, picture)) << NameOf(edit);
    EXPECT_TRUE(SamePicture(ApplyEdit(edit, picture), edited)) << NameOf(edit);
  }
}

TEST(ApplyEdit, HalvesWhatItSees) {
  const Picture half = ApplyEdit(PictureEdit::kHalfSize, SmoothPicture(200, 100));
  EXPECT_LT(MeanDifference(half, SmoothPicture(100, 50)), 2.5);
}

// A crop is the middle, pixel by pixel.
TEST(ApplyEdit, CropsTheMiddle) {
  const Picture picture = SmoothPicture(200, 100);
  const Picture crop = ApplyEdit(PictureEdit::kCropQuarter, picture);
  const Index left = (200 - crop.width) / 2, top = (100 - crop.height) / 2;
  for (Index y = 0; y < crop.height; ++y) {
    for (Index x = 0; x < crop.width; ++x) {
      ASSERT_EQ(RedAt(crop, x, y), RedAt(picture, x + left, y + top));
    }
  }
}

// A white dot to the right of the middle goes down when the picture turns clockwise, by
// 60 · sin 10° = 10 pixels, and the corners are black.
TEST(ApplyEdit, TurnsClockwise) {
  Picture picture = Uniform(201, 201, 100);
  for (Index y = 97; y <= 103; ++y) {
    for (Index x = 157; x <= 163; ++x) {
      std::fill_n(picture.pixels.begin() + 3 * (y * 201 + x), 3, uint8_t{255});
    }
  }
  const Picture turned = ApplyEdit(PictureEdit::kRotation, picture);
  EXPECT_GT(RedAt(turned, 159, 110), 250);
  EXPECT_EQ(RedAt(turned, 160, 97), 100);
  EXPECT_EQ(RedAt(turned, 0, 0), 0);
  EXPECT_EQ(RedAt(turned, 200, 200), 0);
  EXPECT_EQ(RedAt(turned, 100, 100), 100);
}

TEST(ApplyEdit, BrightensAndStopsAtWhite) {
  EXPECT_TRUE(
      SamePicture(ApplyEdit(PictureEdit::kBrightness, Uniform(8, 8, 100)), Uniform(8, 8, 140)));
  EXPECT_TRUE(
      SamePicture(ApplyEdit(PictureEdit::kBrightness, Uniform(8, 8, 200)), Uniform(8, 8, 255)));
}

// One white pixel is spread over its neighbours like a Gaussian of the deviation 1.5, the top of
// which is 255 / (2π · 1.5²) = 18.
TEST(ApplyEdit, Blurs) {
  Picture picture = Uniform(21, 21, 0);
  std::fill_n(picture.pixels.begin() + 3 * (10 * 21 + 10), 3, uint8_t{255});
  const Picture blurred = ApplyEdit(PictureEdit::kBlur, picture);
  EXPECT_NEAR(RedAt(blurred, 10, 10), 18, 3);
  EXPECT_EQ(RedAt(blurred, 10, 8), RedAt(blurred, 8, 10));
  EXPECT_GT(RedAt(blurred, 11, 10), RedAt(blurred, 12, 10));
  EXPECT_EQ(RedAt(blurred, 2, 10), 0);
}

TEST(ApplyEdit, WritesAWordIntoTheLowerHalf) {
  const Picture written = ApplyEdit(PictureEdit::kText, Uniform(350, 200, 90));
  std::set<uint8_t> above, below;
  Index white = 0;
  for (Index y = 0; y < 200; ++y) {
    for (Index x = 0; x < 350; ++x) {
      (y < 100 ? above : below).insert(RedAt(written, x, y));
      if (RedAt(written, x, y) == 255) ++white;
    }
  }
  EXPECT_EQ(above, (std::set<uint8_t>{90}));
  EXPECT_EQ(below, (std::set<uint8_t>{90, 255}));
  // 0.6 · 350 / 35 = 6 pixels for a dot; the six letters have 15 + 18 + 18 + 15 + 11 + 18 dots.
  EXPECT_EQ(white, 95 * 36);
}

// The picture itself, in the middle of white.
TEST(ApplyEdit, PutsAWhiteBorderAround) {
  const Picture picture = SmoothPicture(200, 100);
  const Picture framed = ApplyEdit(PictureEdit::kWideBorder, picture);
  EXPECT_EQ(RedAt(framed, 0, 0), 255);
  EXPECT_EQ(RedAt(framed, 279, 139), 255);
  EXPECT_EQ(RedAt(framed, 39, 70), 255);
  for (Index x = 0; x < 200; ++x) ASSERT_EQ(RedAt(framed, x + 40, 50), RedAt(picture, x, 30));
}

// Black above and below, text at the top and the bottom, and the picture in the middle; one that is
// taller than the screen has black beside it.
TEST(ApplyEdit, ShowsThePictureOnAScreen) {
  const Picture picture = SmoothPicture(200, 100);
  const Picture screen = ApplyEdit(PictureEdit::kScreenshot, picture);
  for (Index x = 0; x < 200; ++x) {
    ASSERT_EQ(RedAt(screen, x, 166 + 30), RedAt(picture, x, 30));
    ASSERT_EQ(RedAt(screen, x, 100), 0);
  }
  std::set<uint8_t> top, bottom;
  for (Index y = 0; y < 40; ++y) {
    for (Index x = 0; x < 200; ++x) {
      top.insert(RedAt(screen, x, y));
      bottom.insert(RedAt(screen, x, 432 - y));
    }
  }
  EXPECT_EQ(top, (std::set<uint8_t>{0, 230}));
  EXPECT_EQ(bottom, (std::set<uint8_t>{0, 200}));
  const Picture tall = ApplyEdit(PictureEdit::kScreenshot, Uniform(10, 195, 90));
  EXPECT_EQ(tall.width, 90);
  EXPECT_EQ(tall.height, 195);
}

TEST(ApplyEdit, TakesColoursAway) {
  const Picture grey = ApplyEdit(PictureEdit::kGrey, SmoothPicture(30, 20));
  for (size_t i = 0; i < grey.pixels.size(); i += 3) {
    ASSERT_EQ(grey.pixels[i], grey.pixels[i + 1]);
    ASSERT_EQ(grey.pixels[i], grey.pixels[i + 2]);
  }
}

// The top of a Gaussian of the deviation 4 is 255 / (2π · 16) = 2.5.
TEST(ApplyEdit, BlursStrongly) {
  Picture picture = Uniform(41, 41, 0);
  std::fill_n(picture.pixels.begin() + 3 * (20 * 41 + 20), 3, uint8_t{255});
  EXPECT_NEAR(RedAt(ApplyEdit(PictureEdit::kStrongBlur, picture), 20, 20), 2.5, 1);
}

TEST(ApplyEdit, WorksOnTheSmallest) {
  for (const PictureEdit edit : kPictureEdits) {
    for (const auto& [width, height] : {std::pair<Index, Index>{1, 1}, {1, 9}, {40, 2}}) {
      const Picture edited = ApplyEdit(edit, Uniform(width, height, 77));
      EXPECT_GE(edited.width, 1) << NameOf(edit);
      EXPECT_GE(edited.height, 1) << NameOf(edit);
    }
  }
}

TEST(ApplyEdit, RefusesPixelsThatDoNotMatch) {
  for (const PictureEdit edit : kPictureEdits) {
    ExpectError(ErrorCode::kInvalidArgument, {"5×4"}, [&] {
      ApplyEdit(edit, {.width = 5, .height = 4, .pixels = {1, 2, 3}});
    });
  }
}

TEST(NameOf, IsDifferentForEach) {
  std::set<std::string> names;
  for (const PictureEdit edit : kPictureEdits) names.insert(NameOf(edit));
  EXPECT_EQ(names.size(), kPictureEdits.size());
}

}  // namespace
}  // namespace bitpool
