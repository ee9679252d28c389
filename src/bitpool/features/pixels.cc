#include "bitpool/features/pixels.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

constexpr Index kChannels = 3;
constexpr float kLargestByte = 255;

using ByteMatrix = Eigen::Matrix<uint8_t, Eigen::Dynamic, Eigen::Dynamic>;

// The pictures of `per_picture` bytes each that lie one after the other, one per column.
Eigen::Map<const ByteMatrix> PicturesOf(std::span<const uint8_t> bytes, Index per_picture) {
  if (per_picture < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("pixels of a picture: expected 1 or more, got {}", per_picture));
  }
  const auto size = static_cast<Index>(bytes.size());
  if (size % per_picture != 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("pixels: expected pictures of {} bytes, {} bytes are not a whole number "
                    "of them",
                    per_picture, size));
  }
  return {bytes.data(), per_picture, size / per_picture};
}

}  // namespace

MatrixF PixelColumns(std::span<const uint8_t> pixels, Index per_picture) {
  return PicturesOf(pixels, per_picture).cast<float>() / kLargestByte;
}

MatrixF GreyColumns(std::span<const uint8_t> planes, Index pixels_per_plane) {
  const auto pictures = PicturesOf(planes, kChannels * pixels_per_plane);
  const auto plane = [&](Index channel) {
    return pictures.middleRows(channel * pixels_per_plane, pixels_per_plane).cast<float>();
  };
  return (plane(0) + plane(1) + plane(2)) / static_cast<float>(kChannels);
}

}  // namespace bitpool
