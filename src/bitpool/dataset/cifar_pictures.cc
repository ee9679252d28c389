#include "bitpool/dataset/cifar_pictures.h"

#include <fmt/format.h>
#include <png.h>

#include <memory>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

constexpr size_t kPixels = 32 * 32;

// The pixels of all rows, red green blue.
std::vector<std::byte> DecodeRows(const FileView& png, size_t rows) {
  const auto fail = [&](std::string_view problem) {
    throw Error(ErrorCode::kCorrupt, png.name(), std::string(problem));
  };
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, decltype(&png_image_free)> guard(&image, png_image_free);
  if (png_image_begin_read_from_memory(&image, png.bytes().data(), png.bytes().size()) == 0)
    fail(image.message);
  if (image.width != kPixels || image.height != rows || image.format != PNG_FORMAT_RGB) {
    fail(fmt::format("a picture of {}×{}, expected {}×{} in 8-bit RGB", image.width, image.height,
                     kPixels, rows));
  }
  std::vector<std::byte> pixels(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) == 0) fail(image.message);
  return pixels;
}

}  // namespace

std::vector<std::byte> CifarBatchFromPng(const FileView& png, std::span<const int> labels) {
  const std::vector<std::byte> pixels = DecodeRows(png, labels.size());
  std::vector<std::byte> batch;
  batch.reserve(labels.size() * (1 + 3 * kPixels));
  for (size_t picture = 0; picture < labels.size(); ++picture) {
    batch.push_back(static_cast<std::byte>(labels[picture]));
    for (size_t channel = 0; channel < 3; ++channel) {  // from interleaved colours to planes
      for (size_t pixel = 0; pixel < kPixels; ++pixel) {
        batch.push_back(pixels[(picture * kPixels + pixel) * 3 + channel]);
      }
    }
  }
  return batch;
}

}  // namespace bitpool
