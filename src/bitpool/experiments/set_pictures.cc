#include "bitpool/experiments/set_pictures.h"

namespace bitpool {

Picture PictureAt(const LabelledPictures& set, Index index) {
  const bool colour = set.shape.size() == 3;
  const auto height = static_cast<Index>(set.shape.at(colour ? 1 : 0));
  const auto width = static_cast<Index>(set.shape.at(colour ? 2 : 1));
  const auto plane = static_cast<size_t>(width * height);
  const uint8_t* pixels = set.pixels.data() + static_cast<size_t>(index) * plane * (colour ? 3 : 1);
  Picture picture{.width = width, .height = height, .pixels = std::vector<uint8_t>(3 * plane)};
  for (size_t pixel = 0; pixel < plane; ++pixel) {
    for (size_t channel = 0; channel < 3; ++channel) {
      picture.pixels[3 * pixel + channel] = pixels[pixel + (colour ? channel * plane : 0)];
    }
  }
  return picture;
}

}  // namespace bitpool
