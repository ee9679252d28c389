#pragma once

#include <gtest/gtest.h>
#include <vips/vips.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/image/picture.h"
#include "bitpool/image/vips_image.h"

// Shared by the tests of this room.
namespace bitpool::testing {

// Smooth, so that lossy formats keep it, and different under every turn and reflection.
inline Picture SmoothPicture(Index width, Index height) {
  Picture picture = {.width = width, .height = height, .pixels = {}};
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      picture.pixels.push_back(static_cast<uint8_t>(20 + 200 * x / width));
      picture.pixels.push_back(static_cast<uint8_t>(40 + 180 * y / height));
      picture.pixels.push_back(static_cast<uint8_t>(230 - 100 * (x + y) / (width + height)));
    }
  }
  return picture;
}

// An image of any kind from its values, which are copied.
template <class Value>
VipsImagePtr ImageOf(const std::vector<Value>& values, Index width, Index height,
                     VipsInterpretation meaning) {
  VipsLibrary::Instance();
  const int bands = static_cast<int>(static_cast<Index>(values.size()) / (width * height));
  VipsImagePtr image(
      vips_image_new_from_memory_copy(values.data(), values.size() * sizeof(Value),
                                      static_cast<int>(width), static_cast<int>(height), bands,
                                      sizeof(Value) == 1 ? VIPS_FORMAT_UCHAR : VIPS_FORMAT_USHORT));
  if (image == nullptr) throw Error(ErrorCode::kInternal, vips_error_buffer());
  image->Type = meaning;
  return image;
}

inline VipsImagePtr ImageOf(const Picture& picture) {
  return ImageOf(picture.pixels, picture.width, picture.height, VIPS_INTERPRETATION_sRGB);
}

// The bytes of a file; `suffix` is libvips's, such as ".jpg[Q=90]".
inline std::vector<std::byte> Encoded(VipsImage* image, const std::string& suffix) {
  void* data = nullptr;
  size_t size = 0;
  if (vips_image_write_to_buffer(image, suffix.c_str(), &data, &size, nullptr) != 0)
    throw Error(ErrorCode::kInternal, vips_error_buffer());
  const auto* begin = static_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(begin, begin + size);
  g_free(data);
  return bytes;
}

// The mean difference of a value; infinite when the sizes differ.
inline double MeanDifference(const Picture& a, const Picture& b) {
  if (a.width != b.width || a.height != b.height || a.pixels.size() != b.pixels.size())
    return INFINITY;
  double sum = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i) sum += std::abs(a.pixels[i] - b.pixels[i]);
  return sum / static_cast<double>(a.pixels.size());
}

inline bool SamePicture(const Picture& a, const Picture& b) {
  return a.width == b.width && a.height == b.height && a.pixels == b.pixels;
}

}  // namespace bitpool::testing
