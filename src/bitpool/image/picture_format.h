#pragma once

#include <cstddef>
#include <span>

namespace bitpool {

// A format of pictures that is read.
struct PictureFormat {
  const char* name;    // for users: "jpeg", "png", "webp", "tiff", "gif", "heic", "avif"
  const char* loader;  // libvips's operation that reads it from memory
};

// The format by the first bytes; the name of the file plays no role. Only formats on a short list
// are accepted, so that no bytes reach the many other loaders a build of libvips has. Throws
// kCorrupt for no bytes and kUnsupported, saying what was found, for everything else.
PictureFormat SniffFormat(std::span<const std::byte> bytes);

}  // namespace bitpool
