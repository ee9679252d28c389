#include "bitpool/features/grey_picture.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"

namespace bitpool {

GreyPicture GreyOf(const Picture& picture) {
  const Index values = static_cast<Index>(picture.pixels.size());
  const bool agrees = picture.width >= 1 && picture.height >= 1 && values % 3 == 0 &&
                      values / 3 / picture.width == picture.height &&
                      values / 3 % picture.width == 0;
  if (!agrees) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a picture of {} × {} pixels has {} values; expected three per pixel",
                            picture.width, picture.height, picture.pixels.size()));
  }
  GreyPicture grey = {.width = picture.width, .height = picture.height, .pixels = {}};
  grey.pixels.resize(picture.pixels.size() / 3);
  const uint8_t* colours = picture.pixels.data();
  for (float& pixel : grey.pixels) {
    // In thousandths, which are exact: grey pixels keep their values.
    const int luma = 299 * colours[0] + 587 * colours[1] + 114 * colours[2];
    pixel = static_cast<float>(luma) / 255000.0F;
    colours += 3;
  }
  return grey;
}

}  // namespace bitpool
