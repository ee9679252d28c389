#include "bitpool/image/picture_match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bitpool/base/random.h"
#include "bitpool/image/edits/picture_edits.h"
#include "bitpool/image/picture_tones.h"
#include "bitpool/image/picture_warp.h"
#include "bitpool/image/testing.h"
#include "bitpool/image/thumbnail.h"

namespace bitpool {
namespace {

// Rectangles of random sizes, places and greys one over the other: corners everywhere.
Picture Patchwork(uint64_t seed, Index width = 320, Index height = 240) {
  Random random(seed);
  Picture picture = {.width = width,
                     .height = height,
                     .pixels = std::vector<uint8_t>(static_cast<size_t>(3 * width * height), 128)};
  for (int i = 0; i < 150; ++i) {
    const auto w = static_cast<Index>(8 + random.Below(50)),
               x = static_cast<Index>(random.Below(static_cast<uint64_t>(width)));
    const auto h = static_cast<Index>(8 + random.Below(50)),
               y = static_cast<Index>(random.Below(static_cast<uint64_t>(height)));
    const auto grey = static_cast<uint8_t>(random.Below(256));
    for (Index v = y; v < std::min(y + h, height); ++v) {
      std::fill_n(picture.pixels.begin() + 3 * (v * width + x), 3 * std::min(w, width - x), grey);
    }
  }
  return picture;
}

Picture Part(const Picture& picture, double x0, double y0, double x1, double y1) {
  return Warp(picture, {Point{x0, y0}, Point{x1, y0}, Point{x1, y1}, Point{x0, y1}},
              std::lround(x1 - x0), std::lround(y1 - y0));
}

Picture WithBorder(const Picture& picture, Index wide, uint8_t grey) {
  Picture framed = {
      .width = picture.width + 2 * wide, .height = picture.height + 2 * wide, .pixels = {}};
  framed.pixels.assign(static_cast<size_t>(3 * framed.width * framed.height), grey);
  for (Index y = 0; y < picture.height; ++y) {
    std::copy_n(picture.pixels.begin() + 3 * y * picture.width, 3 * picture.width,
                framed.pixels.begin() + 3 * ((y + wide) * framed.width + wide));
  }
  return framed;
}

PictureMatch Match(const Picture& a, const Picture& b) {
  return MatchPictures(SketchPicture(a), SketchPicture(b));
}

TEST(MatchPictures, EditsOfOnePictureAreTheSame) {
  const Picture picture = Patchwork(1);
  EXPECT_EQ(Match(picture, picture).relation, PictureRelation::kEdited);
  EXPECT_GT(Match(picture, picture).agreement, 0.99);
  for (const PictureEdit edit :
       {PictureEdit::kHalfSize, PictureEdit::kStrongJpeg, PictureEdit::kRotation,
        PictureEdit::kBrightness, PictureEdit::kBlur, PictureEdit::kText}) {
    const Picture edited = ApplyEdit(edit, picture);
    EXPECT_EQ(Match(picture, edited).relation, PictureRelation::kEdited) << NameOf(edit);
    EXPECT_EQ(Match(edited, picture).relation, PictureRelation::kEdited) << NameOf(edit);
  }
  const Picture square =
      Warp(picture, {Point{0, 0}, Point{320, 0}, Point{320, 240}, Point{0, 240}}, 150, 150);
  EXPECT_EQ(Match(picture, square).relation, PictureRelation::kEdited);
  Picture grey = picture;
  MakeGrey(grey);
  EXPECT_EQ(Match(grey, picture).relation, PictureRelation::kEdited);
}

TEST(MatchPictures, APartIsToldFromTheWhole) {
  const Picture picture = Patchwork(2);
  for (const Picture& part : {ApplyEdit(PictureEdit::kCropQuarter, picture),
                              Part(picture, 10, 5, 240, 175), Part(picture, 150, 90, 318, 232)}) {
    const PictureMatch there = Match(picture, part), back = Match(part, picture);
    EXPECT_EQ(there.relation, PictureRelation::kSecondIsPart);
    EXPECT_EQ(back.relation, PictureRelation::kFirstIsPart);
    const double share = static_cast<double>(part.width * part.height) / (320.0 * 240.0);
    EXPECT_NEAR(there.first_covered, share, 0.05);
    EXPECT_GT(there.second_covered, 0.95);
    EXPECT_NEAR(back.second_covered, share, 0.05);
  }
}

// A border covers nothing of the picture, which is then no part of something larger.
TEST(MatchPictures, ABorderIsAnEdit) {
  const Picture picture = Patchwork(3);
  for (const auto grey : {uint8_t{0}, uint8_t{255}}) {
    EXPECT_EQ(Match(picture, WithBorder(picture, 70, grey)).relation, PictureRelation::kEdited);
    EXPECT_EQ(Match(WithBorder(picture, 70, grey), picture).relation, PictureRelation::kEdited);
  }
}

TEST(MatchPictures, OtherPicturesAreDifferent) {
  for (uint64_t seed = 10; seed < 40; ++seed) {
    const PictureMatch match = Match(Patchwork(seed), Patchwork(seed + 100));
    EXPECT_EQ(match.relation, PictureRelation::kDifferent) << seed;
    EXPECT_LT(match.agreement, 0.35) << seed;
  }
}

TEST(MatchPictures, AMirroredCopyMatchesInTheMirror) {
  const Picture picture = Patchwork(4);
  const Picture mirrored = Mirrored(picture);
  EXPECT_EQ(Match(picture, mirrored).relation, PictureRelation::kDifferent);
  EXPECT_EQ(Match(picture, Mirrored(ApplyEdit(PictureEdit::kHalfSize, mirrored))).relation,
            PictureRelation::kEdited);
  EXPECT_EQ(mirrored.pixels[0], picture.pixels[3 * 319]);
  EXPECT_TRUE(testing::SamePicture(Mirrored(mirrored), picture));
}

// Pictures that look the same from afar: little is left of what is compared otherwise.
TEST(MatchPictures, BlurredAndFaintCopies) {
  const auto faint = [](Picture picture) {
    for (uint8_t& value : picture.pixels) value = static_cast<uint8_t>(200 + value / 25);
    return picture;
  };
  for (uint64_t seed = 60; seed < 66; ++seed) {
    const Picture picture = Patchwork(seed), other = Patchwork(seed + 100);
    const Picture blurred = ApplyEdit(PictureEdit::kStrongBlur, picture);
    EXPECT_EQ(Match(picture, blurred).relation, PictureRelation::kEdited) << seed;
    EXPECT_EQ(Match(other, blurred).relation, PictureRelation::kDifferent) << seed;
    const Picture smaller = ApplyEdit(PictureEdit::kHalfSize, faint(picture));
    EXPECT_EQ(Match(faint(picture), smaller).relation, PictureRelation::kEdited) << seed;
    EXPECT_EQ(Match(faint(other), smaller).relation, PictureRelation::kDifferent) << seed;
  }
}

// Neither is a part of the other.
TEST(MatchPictures, OverlappingPicturesAreDifferent) {
  const Picture scene = Patchwork(7, 480, 240);
  EXPECT_EQ(Match(Part(scene, 0, 0, 320, 240), Part(scene, 110, 0, 430, 240)).relation,
            PictureRelation::kDifferent);
}

// As from another place: what is near moved before what is far.
TEST(MatchPictures, APictureInWhichSomethingMovedIsAnother) {
  const Picture picture = Patchwork(8);
  Picture moved = picture;
  for (Index y = 0; y < picture.height; ++y) {
    if (y / 40 % 3 != 1) continue;
    std::copy_n(picture.pixels.begin() + 3 * y * 320, 3 * 315,
                moved.pixels.begin() + 3 * (y * 320 + 5));
  }
  const PictureMatch match = Match(picture, moved);
  EXPECT_GT(match.agreement, 0.62);  // most of it agrees
  EXPECT_EQ(match.relation, PictureRelation::kDifferent);
}

// There is nothing to go by, and nothing may break.
TEST(MatchPictures, PicturesWithNothingToSee) {
  const auto plain = [](Index width, Index height) {
    return Picture{.width = width,
                   .height = height,
                   .pixels = std::vector<uint8_t>(static_cast<size_t>(3 * width * height), 90)};
  };
  const std::vector<Picture> pictures = {plain(1, 1),         plain(1, 300), plain(300, 1),
                                         plain(200, 200),     plain(7, 5),   Patchwork(5),
                                         Patchwork(6, 300, 3)};
  for (size_t i = 0; i < pictures.size(); ++i) {
    for (size_t j = 0; j < pictures.size(); ++j) {
      if (i == j && i >= 5) continue;
      EXPECT_EQ(Match(pictures[i], pictures[j]).relation, PictureRelation::kDifferent)
          << i << " " << j;
    }
  }
  EXPECT_THROW(SketchPicture({.width = 3, .height = 3, .pixels = {1, 2}}), Error);
}

}  // namespace
}  // namespace bitpool
