#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bitpool/image/picture.h"

namespace bitpool {

struct DecodeOptions {
  uint64_t max_bytes = uint64_t{256} << 20;  // of the encoded picture
  uint64_t max_pixels = 200'000'000;         // by the picture's header, before anything is decoded
  Index max_side = 0;  // scales down so that the longest side is at most this; 0: as it is

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

// What a picture's header says.
struct PictureFacts {
  Index width = 0;  // upright, before any scaling
  Index height = 0;
  std::string format;  // "jpeg", "png", "webp", "tiff", "gif", "heic" or "avif"
  Index pages = 1;     // or frames of an animation; only the first is decoded
};

// Both functions take the bytes of a file, whose name does not matter, may be called from many
// threads, and give the same result for the same bytes at any time. They throw
// - kUnsupported for what is not a picture of a known format, saying what was found;
// - kCorrupt for what is damaged, cut off or empty, with the decoder's reason;
// - kResources for what is beyond a limit, with the sizes, before it costs memory or time.
//
// libvips decodes, and is set up on the first call for the whole process: without loaders that are
// not meant for untrusted data, without a cache and vector code, with one thread for each picture.

PictureFacts InspectPicture(std::span<const std::byte> bytes, const DecodeOptions& options);

// The picture as it is meant to be seen: upright, in sRGB, transparent parts on white; of an
// animation or of several pages the first. EXIF in a PNG, where it is rare, is not looked at
// (libvips with libpng does not read it).
Picture DecodePicture(std::span<const std::byte> bytes, const DecodeOptions& options);

}  // namespace bitpool
