#include "bitpool/image/thumbnail.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bitpool/base/error.h"
#include "bitpool/image/vips_image.h"

namespace bitpool {

Picture ScaleToFit(const Picture& picture, Index max_side) {
  if (max_side < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("max_side: expected 1 or more, got {}", max_side));
  }
  return VipsLibrary::Instance().Run(ErrorCode::kInternal, [&] {
    VipsImagePtr image = WrapPicture(picture);
    if (std::max(picture.width, picture.height) <= max_side) return picture;
    const PictureSize size = FitWithin({picture.width, picture.height}, max_side);
    return ComputePicture(ScaleDown(std::move(image), size).get());
  });
}

std::vector<std::byte> EncodeJpeg(const Picture& picture, int quality) {
  constexpr Index kLargestJpeg = 65500;
  if (quality < 1 || quality > 100) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("quality: expected 1 to 100, got {}", quality));
  }
  if (std::max(picture.width, picture.height) > kLargestJpeg) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a JPEG picture has sides of at most {}, this has {}×{}", kLargestJpeg,
                            picture.width, picture.height));
  }
  return VipsLibrary::Instance().Run(ErrorCode::kInternal, [&] {
    const VipsImagePtr image = WrapPicture(picture);
    void* data = nullptr;
    size_t size = 0;
    CheckVips(vips_jpegsave_buffer(image.get(), &data, &size, "Q", quality, "strip", TRUE,
                                   "optimize_coding", TRUE, nullptr));
    const std::unique_ptr<void, decltype(&g_free)> owner(data, g_free);
    const auto* begin = static_cast<const std::byte*>(data);
    return std::vector<std::byte>(begin, begin + size);
  });
}

}  // namespace bitpool
