#include "bitpool/image/picture_edits.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bitpool/base/error.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/picture_text.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/image/vips_image.h"

namespace bitpool {
namespace {

constexpr int kStrongQuality = 20;
constexpr double kDegrees = 10;
constexpr double kBrighter = 1.4;
constexpr double kBlurDeviation = 1.5;  // pixels

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

// With this share of the area.
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

VipsImagePtr Blurred(const VipsImagePtr& image) {
  VipsImage* out = nullptr;
  // libvips would cut the Gaussian off where it is a fifth of its top.
  CheckVips(vips_gaussblur(image.get(), &out, kBlurDeviation, "min_ampl", 0.01, nullptr));
  return VipsImagePtr(out);
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
      return Blurred(image);
    case PictureEdit::kStrongJpeg:
    case PictureEdit::kText:
      break;  // not by libvips
  }
  return image;
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
  }
  return "?";
}

Picture ApplyEdit(PictureEdit edit, const Picture& picture) {
  if (edit == PictureEdit::kStrongJpeg) {
    return DecodePicture(EncodeJpeg(picture, kStrongQuality), {});
  }
  Picture edited = VipsLibrary::Instance().Run(ErrorCode::kInternal, [&] {
    return ComputePicture(Edited(edit, WrapPicture(picture)).get());
  });
  return edit == PictureEdit::kText ? WithText(std::move(edited)) : edited;
}

}  // namespace bitpool
