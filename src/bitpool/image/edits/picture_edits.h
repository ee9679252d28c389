#pragma once

#include <array>

#include "bitpool/image/picture.h"

namespace bitpool {

// What people do to a picture before they pass it on. Near-duplicates are measured with copies made
// this way.
enum class PictureEdit {
  kHalfSize,     // both sides halved
  kStrongJpeg,   // saved as JPEG of quality 20
  kCropTenth,    // the middle, 90 % of the area
  kCropQuarter,  // the middle, 75 % of the area
  kRotation,     // turned by 10° clockwise about the middle; the size stays, the corners are black
  kBrightness,   // all values times 1.4, what is beyond white is white
  kBlur,         // Gaussian, deviation 1.5 pixels
  kText,         // a word in large white letters across the lower half

  // Harder ones.
  kTiny,        // the longest side 128 pixels
  kSquare,      // squeezed to a square of the shorter side
  kStrongBlur,  // Gaussian, deviation 4 pixels
  kSharpening,  // three times the difference to the blurred picture added
  kGrey,        // without colours
  kWideBorder,  // white, a fifth of the picture's sides on every side
  kHalfArea,    // the middle, 50 % of the area
  kScreenshot,  // shown by a telephone: as wide as the tall black screen, with lines of text
};

inline constexpr std::array kPictureEdits = {
    PictureEdit::kHalfSize,    PictureEdit::kStrongJpeg, PictureEdit::kCropTenth,
    PictureEdit::kCropQuarter, PictureEdit::kRotation,   PictureEdit::kBrightness,
    PictureEdit::kBlur,        PictureEdit::kText,       PictureEdit::kTiny,
    PictureEdit::kSquare,      PictureEdit::kStrongBlur, PictureEdit::kSharpening,
    PictureEdit::kGrey,        PictureEdit::kWideBorder, PictureEdit::kHalfArea,
    PictureEdit::kScreenshot};

// A name for tables and JSON: "half_size".
const char* NameOf(PictureEdit edit);

// The edited picture; the same on every machine. Throws kInvalidArgument when the pixels do not
// match the sizes.
Picture ApplyEdit(PictureEdit edit, const Picture& picture);

}  // namespace bitpool
