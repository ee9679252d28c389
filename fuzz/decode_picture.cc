#include <algorithm>

#include "bitpool/image/decode.h"
#include "fuzz.h"

// Whatever the bytes are, they give a picture whose header and pixels agree, or an error.
namespace bitpool {
namespace {

constexpr DecodeOptions kWhole = {.max_bytes = 1 << 20, .max_pixels = 1 << 18, .max_side = 0};
constexpr DecodeOptions kScaled = {.max_bytes = 1 << 20, .max_pixels = 1 << 18, .max_side = 5};

void Require(bool good) {
  if (!good) __builtin_trap();
}

void RequireWhole(const Picture& picture) {
  Require(picture.width > 0 && picture.height > 0);
  Require(picture.pixels.size() == static_cast<size_t>(picture.width * picture.height * 3));
}

void Decode(std::span<const std::byte> bytes) {
  const PictureFacts facts = InspectPicture(bytes, kWhole);
  Require(facts.width * facts.height <= static_cast<Index>(kWhole.max_pixels));
  // A picture that is scaled down while it is decoded takes another way through the decoders.
  fuzz::Try([&] {
    const Picture small = DecodePicture(bytes, kScaled);
    RequireWhole(small);
    Require(std::max(small.width, small.height) <= kScaled.max_side);
  });
  const Picture picture = DecodePicture(bytes, kWhole);
  RequireWhole(picture);
  Require(picture.width == facts.width && picture.height == facts.height);
}

}  // namespace
}  // namespace bitpool

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  return fuzz::Try([&] { Decode(std::as_bytes(std::span(data, size))); });
}
