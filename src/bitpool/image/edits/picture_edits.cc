#include "bitpool/image/edits/picture_edits.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bitpool/base/error.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/picture_text.h"
#include "bitpool/image/picture_tones.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/image/vips_image.h"

namespace bitpool {
namespace {

constexpr int kStrongQuality = 20;
constexpr double kDegrees = 10;
constexpr double kBrighter = 1.4;
constexpr double kBlurDeviation = 1.5, kStrongBlurDeviation = 4;  // pixels
constexpr Index kTinySide = 128;
constexpr double kSharper = 3;
constexpr double kBorderShare = 0.2;       // of a side of the picture
constexpr double kScreenShape = 19.5 / 9;  // height against width

constexpr double kWordWidth = 0.6;  // of the picture's

// The word stands in the middle from left to right, its own middle at three quarters of the height.
Picture WithText(Picture picture) {
  DrawSample(picture, {.width = kWordWidth, .middle = {0.5, 0.75}, .colour = {255, 255, 255}});
  return picture;
}

// The middle of an image.
VipsImagePtr Middle(const VipsImagePtr& image, PictureSize size) {
  VipsImage* out = nullptr;
  CheckVips(vips_extract_area(image.get(), &out, static_cast<int>((image->Xsize - size.width) / 2),
                              static_cast<int>((image->Ysize - size.height) / 2),
                              static_cast<int>(size.width), static_cast<int>(size.height),
                              nullptr));
  return VipsImagePtr(out);
}

// The middle of an image, with this share of its area.
VipsImagePtr Cropped(const VipsImagePtr& image, double area) {
  const auto side = [&](int all) { return std::max<Index>(1, std::lround(all * std::sqrt(area))); };
  return Middle(image, {side(image->Xsize), side(image->Ysize)});
}

VipsImagePtr Halved(VipsImagePtr image) {
  const PictureSize half = {std::max<Index>(1, image->Xsize / 2),
                            std::max<Index>(1, image->Ysize / 2)};
  return ScaleDown(std::move(image), half);
}

// libvips makes room for the turned corners; the middle of that is the old size.
VipsImagePtr Rotated(const VipsImagePtr& image) {
  VipsImage* turned = nullptr;
  CheckVips(vips_rotate(image.get(), &turned, kDegrees, nullptr));
  return Middle(VipsImagePtr(turned), {image->Xsize, image->Ysize});
}

VipsImagePtr Brightened(const VipsImagePtr& image) {
  VipsImage* out = nullptr;
  CheckVips(vips_linear1(image.get(), &out, kBrighter, 0, "uchar", TRUE, nullptr));
  return VipsImagePtr(out);
}

VipsImagePtr Blurred(const VipsImagePtr& image, double deviation) {
  VipsImage* out = nullptr;
  // libvips would cut the Gaussian off where it is a fifth of its top.
  CheckVips(vips_gaussblur(image.get(), &out, deviation, "min_ampl", 0.01, nullptr));
  return VipsImagePtr(out);
}

VipsImagePtr Squeezed(VipsImagePtr image) {
  const Index side = std::min(image->Xsize, image->Ysize);
  return ScaleDown(std::move(image), {side, side});
}

// The image in the middle of a larger one of a single shade.
VipsImagePtr On(const VipsImagePtr& image, PictureSize size, VipsExtend shade) {
  VipsImage* out = nullptr;
  CheckVips(vips_embed(image.get(), &out, static_cast<int>((size.width - image->Xsize) / 2),
                       static_cast<int>((size.height - image->Ysize) / 2),
                       static_cast<int>(size.width), static_cast<int>(size.height), "extend", shade,
                       nullptr));
  return VipsImagePtr(out);
}

VipsImagePtr Bordered(const VipsImagePtr& image) {
  const auto side = [](int own) { return own + 2 * std::lround(kBorderShare * own); };
  return On(image, {side(image->Xsize), side(image->Ysize)}, VIPS_EXTEND_WHITE);
}

// A picture that is taller than the screen is as tall as it.
VipsImagePtr OnScreen(const VipsImagePtr& image) {
  const double width = std::max<double>(image->Xsize, image->Ysize / kScreenShape);
  return On(image, {std::lround(width), std::lround(width * kScreenShape)}, VIPS_EXTEND_BLACK);
}

// The time and the buttons of a telephone.
Picture WithScreenText(Picture screen) {
  for (const double x : {0.15, 0.85}) {
    DrawSample(screen, {.width = 0.15, .middle = {x, 0.02}, .colour = {230, 230, 230}});
  }
  for (const double x : {0.2, 0.5, 0.8}) {
    DrawSample(screen, {.width = 0.18, .middle = {x, 0.95}, .colour = {200, 200, 200}});
  }
  return screen;
}

VipsImagePtr Edited(PictureEdit edit, VipsImagePtr image) {
  switch (edit) {
    case PictureEdit::kHalfSize:
      return Halved(std::move(image));
    case PictureEdit::kCropTenth:
      return Cropped(image, 0.9);
    case PictureEdit::kCropQuarter:
      return Cropped(image, 0.75);
    case PictureEdit::kRotation:
      return Rotated(image);
    case PictureEdit::kBrightness:
      return Brightened(image);
    case PictureEdit::kBlur:
      return Blurred(image, kBlurDeviation);
    case PictureEdit::kSquare:
      return Squeezed(std::move(image));
    case PictureEdit::kStrongBlur:
      return Blurred(image, kStrongBlurDeviation);
    case PictureEdit::kWideBorder:
      return Bordered(image);
    case PictureEdit::kHalfArea:
      return Cropped(image, 0.5);
    case PictureEdit::kScreenshot:
      return OnScreen(image);
    case PictureEdit::kStrongJpeg:
    case PictureEdit::kText:
    case PictureEdit::kTiny:
    case PictureEdit::kSharpening:
    case PictureEdit::kGrey:
      break;  // see Finished
  }
  return image;
}

// What is not done by libvips.
Picture Finished(PictureEdit edit, Picture picture) {
  switch (edit) {
    case PictureEdit::kStrongJpeg:
      return DecodePicture(EncodeJpeg(picture, kStrongQuality), {});
    case PictureEdit::kText:
      return WithText(std::move(picture));
    case PictureEdit::kTiny:
      return ScaleToFit(picture, kTinySide);
    case PictureEdit::kSharpening:
      Sharpen(picture, kSharper);
      return picture;
    case PictureEdit::kGrey:
      MakeGrey(picture);
      return picture;
    case PictureEdit::kScreenshot:
      return WithScreenText(std::move(picture));
    default:
      return picture;
  }
}

}  // namespace

const char* NameOf(PictureEdit edit) {
  switch (edit) {
    case PictureEdit::kHalfSize:
      return "half_size";
    case PictureEdit::kStrongJpeg:
      return "jpeg_20";
    case PictureEdit::kCropTenth:
      return "crop_10";
    case PictureEdit::kCropQuarter:
      return "crop_25";
    case PictureEdit::kRotation:
      return "rotation_10";
    case PictureEdit::kBrightness:
      return "brightness";
    case PictureEdit::kBlur:
      return "blur";
    case PictureEdit::kText:
      return "text";
    case PictureEdit::kTiny:
      return "tiny_128";
    case PictureEdit::kSquare:
      return "square";
    case PictureEdit::kStrongBlur:
      return "strong_blur";
    case PictureEdit::kSharpening:
      return "sharpening";
    case PictureEdit::kGrey:
      return "grey";
    case PictureEdit::kWideBorder:
      return "wide_border";
    case PictureEdit::kHalfArea:
      return "half_area";
    case PictureEdit::kScreenshot:
      return "screenshot";
  }
  return "?";
}

Picture ApplyEdit(PictureEdit edit, const Picture& picture) {
  return Finished(edit, VipsLibrary::Instance().Run(ErrorCode::kInternal, [&] {
    return ComputePicture(Edited(edit, WrapPicture(picture)).get());
  }));
}

}  // namespace bitpool
