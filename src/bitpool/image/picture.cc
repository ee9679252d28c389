#include "bitpool/image/picture.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"

namespace bitpool {

void RequirePicture(const Picture& picture) {
  if (picture.width >= 1 && picture.height >= 1 &&
      picture.pixels.size() / 3 / static_cast<size_t>(picture.width) ==
          static_cast<size_t>(picture.height) &&
      picture.pixels.size() == static_cast<size_t>(3 * picture.width * picture.height)) {
    return;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("a picture of {}×{} with {} bytes, expected sides of 1 or more and 3 "
                          "bytes for each pixel",
                          picture.width, picture.height, picture.pixels.size()));
}

}  // namespace bitpool
