#include "bitpool/image/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/image/picture_format.h"
#include "bitpool/image/vips_image.h"

namespace bitpool {
namespace {

constexpr double kWhite = 255;

void CheckPixels(PictureSize size, const DecodeOptions& options) {
  const auto pixels = static_cast<uint64_t>(size.width) * static_cast<uint64_t>(size.height);
  if (pixels <= options.max_pixels) return;
  throw Error(ErrorCode::kResources, fmt::format("{}×{} are {} pixels, the limit is {}", size.width,
                                                 size.height, pixels, options.max_pixels));
}

// The sides by the first chunk, the 4 letters of which stand at byte 12: lossy ("VP8 "), lossless
// ("VP8L") or extended ("VP8X"). libvips allocates a WebP picture when it reads the header, 1 GiB
// for the largest, so that its own answer comes too late.
PictureSize WebpSize(std::span<const std::byte> bytes) {
  const auto number = [&](size_t at, size_t count) {  // little-endian, 0 after the end
    Index value = 0;
    for (size_t i = 0; i < count && at + i < bytes.size(); ++i) {
      value |= static_cast<Index>(bytes[at + i]) << (8 * i);
    }
    return value;
  };
  constexpr Index kSide = 0x3fff;  // 14 bits
  switch (static_cast<char>(number(15, 1))) {
    case 'X':
      return {1 + number(24, 3), 1 + number(27, 3)};
    case 'L':
      return {1 + (number(21, 4) & kSide), 1 + (number(21, 4) >> 14 & kSide)};
    default:
      return {number(26, 2) & kSide, number(28, 2) & kSide};
  }
}

// An encoded picture whose bytes are within the limits, and whose header is read.
class EncodedPicture {
 public:
  EncodedPicture(std::span<const std::byte> bytes, PictureFormat format,
                 const DecodeOptions& options)
      : bytes_(bytes), format_(format) {
    if (vips_type_find("VipsForeignLoad", format.loader) == 0) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("this build of libvips does not read {} pictures", format.name));
    }
    if (format.name == std::string_view("webp")) CheckPixels(WebpSize(bytes), options);
    header_ = Load(1);
    CheckPixels(stored_size(), options);
  }

  PictureSize stored_size() const { return {header_->Xsize, header_->Ysize}; }
  int orientation() const { return vips_image_get_orientation(header_.get()); }
  // libvips's own function says 1 for 10,000 pages and more.
  Index pages() const {
    int pages = 1;
    if (vips_image_get_typeof(header_.get(), VIPS_META_N_PAGES) != 0) {
      CheckVips(vips_image_get_int(header_.get(), VIPS_META_N_PAGES, &pages));
    }
    return std::max(pages, 1);
  }

  // Ready to be computed once from top to bottom. The sides may be divided, by at most `shrink`,
  // where the decoder can do so faster than it decodes.
  VipsImagePtr Open(Index shrink) const {
    // libjpeg scales coarsely: the last factor of two is left to better filters. Of a side that is
    // shorter than the factor libvips would leave nothing, and end the process.
    const Index shortest = std::min(stored_size().width, stored_size().height);
    int factor = 1;
    while (format_.name == std::string_view("jpeg") && factor < 8 && 4 * factor <= shrink &&
           2 * factor <= shortest) {
      factor *= 2;
    }
    if (factor > 1) return Load(factor);
    return VipsImagePtr(static_cast<VipsImage*>(g_object_ref(header_.get())));
  }

 private:
  VipsImagePtr Load(int shrink) const {
    // libvips does not write to what it reads, but its interface does not say const.
    auto* data = const_cast<std::byte*>(bytes_.data());
    VipsBlob* blob = vips_blob_new(nullptr, data, bytes_.size());
    VipsImage* image = nullptr;
    const int result =
        shrink == 1 ? vips_call(format_.loader, blob, &image, "access", VIPS_ACCESS_SEQUENTIAL,
                                "fail_on", VIPS_FAIL_ON_ERROR, nullptr)
                    : vips_call(format_.loader, blob, &image, "access", VIPS_ACCESS_SEQUENTIAL,
                                "fail_on", VIPS_FAIL_ON_ERROR, "shrink", shrink, nullptr);
    vips_area_unref(VIPS_AREA(blob));
    CheckVips(result);
    return VipsImagePtr(image);
  }

  std::span<const std::byte> bytes_;
  PictureFormat format_;
  VipsImagePtr header_;
};

void CheckBytes(std::span<const std::byte> bytes, const DecodeOptions& options) {
  options.Validate();
  if (bytes.size() <= options.max_bytes) return;
  throw Error(ErrorCode::kResources, fmt::format("{} bytes, the limit for a picture is {}",
                                                 bytes.size(), options.max_bytes));
}

// By the embedded profile, or null when there is none or it does not fit.
VipsImagePtr ByProfile(VipsImage* image) {
  const void* profile = nullptr;
  size_t size = 0;
  if (vips_image_get_typeof(image, VIPS_META_ICC_NAME) == 0) return nullptr;
  CheckVips(vips_image_get_blob(image, VIPS_META_ICC_NAME, &profile, &size));
  if (vips_icc_is_compatible_profile(image, profile, size) == 0) return nullptr;
  VipsImage* out = nullptr;
  if (vips_icc_transform(image, &out, "srgb", "embedded", TRUE, "depth", 8, nullptr) == 0) {
    return VipsImagePtr(out);
  }
  vips_error_clear();  // a picture with a bad profile is shown without it
  return nullptr;
}

// 8 bits, sRGB, with alpha where the picture had it.
VipsImagePtr ToSrgb(VipsImagePtr image) {
  if (VipsImagePtr managed = ByProfile(image.get())) return managed;
  if (vips_colourspace_issupported(image.get()) == 0) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} channels whose colours are not known", image->Bands));
  }
  VipsImage* converted = nullptr;
  CheckVips(vips_colourspace(image.get(), &converted, VIPS_INTERPRETATION_sRGB, nullptr));
  image.reset(converted);
  VipsImage* bytes = nullptr;
  CheckVips(vips_cast(image.get(), &bytes, VIPS_FORMAT_UCHAR, nullptr));
  return VipsImagePtr(bytes);
}

VipsImagePtr OnWhite(VipsImagePtr image) {
  if (vips_image_hasalpha(image.get()) == 0) return image;
  VipsArrayDouble* white = vips_array_double_newv(1, kWhite);
  VipsImage* flat = nullptr;
  const int result = vips_flatten(image.get(), &flat, "background", white, nullptr);
  vips_area_unref(VIPS_AREA(white));
  CheckVips(result);
  return VipsImagePtr(flat);
}

Picture Upright(Picture stored, int orientation) {
  if (orientation == 1) return stored;
  const VipsImagePtr image = WrapPicture(stored);
  vips_image_set_int(image.get(), VIPS_META_ORIENTATION, orientation);
  VipsImage* upright = nullptr;
  CheckVips(vips_autorot(image.get(), &upright, nullptr));
  return ComputePicture(VipsImagePtr(upright).get());
}

Picture Decode(const EncodedPicture& encoded, Index max_side) {
  const PictureSize stored = encoded.stored_size();
  const PictureSize size = FitWithin(stored, max_side);
  const Index shrink = std::max(stored.width, stored.height) / std::max(size.width, size.height);
  VipsImagePtr image = OnWhite(ToSrgb(encoded.Open(shrink)));
  if (image->Bands != 3) {
    throw Error(ErrorCode::kUnsupported, fmt::format("{} channels, expected at most red, green, "
                                                     "blue and alpha",
                                                     image->Bands));
  }
  image = ScaleDown(std::move(image), size);
  // Rotation reads columns, which a picture that is still being decoded cannot give.
  return Upright(ComputePicture(image.get()), encoded.orientation());
}

}  // namespace

void DecodeOptions::Validate() const {
  if (max_side >= 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("max_side: expected 0 or more, got {}", max_side));
}

PictureFacts InspectPicture(std::span<const std::byte> bytes, const DecodeOptions& options) {
  CheckBytes(bytes, options);
  const PictureFormat format = SniffFormat(bytes);
  return VipsLibrary::Instance().Run(ErrorCode::kCorrupt, [&] {
    const EncodedPicture encoded(bytes, format, options);
    auto [width, height] = encoded.stored_size();
    if (encoded.orientation() >= 5) std::swap(width, height);  // a quarter turn
    return PictureFacts{
        .width = width, .height = height, .format = format.name, .pages = encoded.pages()};
  });
}

Picture DecodePicture(std::span<const std::byte> bytes, const DecodeOptions& options) {
  CheckBytes(bytes, options);
  const PictureFormat format = SniffFormat(bytes);
  return VipsLibrary::Instance().Run(ErrorCode::kCorrupt, [&] {
    return Decode(EncodedPicture(bytes, format, options), options.max_side);
  });
}

}  // namespace bitpool
