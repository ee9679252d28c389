#include "bitpool/image/vips_image.h"

#include <fmt/format.h>
#include <vips/vector.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace bitpool {
namespace {

constexpr int kStripRows = 64;          // computed at a time
constexpr size_t kReasonLength = 300;   // a longer reason repeats itself
constexpr Index kLargestSide = 100000;  // libvips's own, which is fixed when it is built

// The first warning on this thread since ForgetReasons. Some loaders only warn and then fail
// without a word.
thread_local std::string first_warning;

// A library prints nothing, and a warning about a picture is not one about the program.
void KeepWarning(const char* /*domain*/, GLogLevelFlags /*level*/, const char* message,
                 void* /*data*/) {
  if (first_warning.empty()) first_warning = message;
}

// The reason on one line, each sentence once.
std::string TakeReason() {
  const std::unique_ptr<char, decltype(&g_free)> buffer(vips_error_buffer_copy(), g_free);
  std::string reason;
  std::string_view rest = buffer.get();
  while (!rest.empty() && reason.size() < kReasonLength) {
    const size_t length = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, length);
    if (!line.empty() && reason.find(line) == std::string::npos) {
      reason += fmt::format("{}{}", reason.empty() ? "" : "; ", line);
    }
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  if (reason.empty()) reason = first_warning;
  return reason.empty() ? "libvips gives no reason" : reason;
}

}  // namespace

VipsLibrary& VipsLibrary::Instance() {
  // Never destroyed: threads that end after main may still hold something of libvips.
  static VipsLibrary* const kInstance = new VipsLibrary;
  return *kInstance;
}

VipsLibrary::VipsLibrary() {
  g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, KeepWarning, nullptr);
  if (vips_init("bitpool") != 0) {
    throw Error(ErrorCode::kInternal, "libvips failed to start: " + TakeReason());
  }
  vips_block_untrusted_set(TRUE);
  vips_cache_set_max(0);    // no picture is read twice
  vips_concurrency_set(1);  // pictures are decoded in parallel
  // The vector code rounds differently; the same bytes give the same pixels on every processor.
  vips_vector_set_enabled(FALSE);
}

void VipsLibrary::ForgetReasons() {
  vips_error_clear();
  first_warning.clear();
}

void VipsLibrary::ThrowReason(ErrorCode code) {
  const std::string reason = TakeReason();
  const bool memory = reason.find("out of memory") != std::string::npos;
  throw Error(memory ? ErrorCode::kResources : code, reason);
}

VipsImagePtr WrapPicture(const Picture& picture) {
  if (picture.width < 1 || picture.height < 1 || picture.width > kLargestSide ||
      picture.height > kLargestSide ||
      picture.pixels.size() != static_cast<size_t>(picture.width * picture.height * 3)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a picture of {}×{} with {} bytes, expected 3 for each pixel and sides "
                            "of 1 to {}",
                            picture.width, picture.height, picture.pixels.size(), kLargestSide));
  }
  VipsImagePtr image(vips_image_new_from_memory(
      picture.pixels.data(), picture.pixels.size(), static_cast<int>(picture.width),
      static_cast<int>(picture.height), 3, VIPS_FORMAT_UCHAR));
  if (image == nullptr) throw VipsFailure();
  image->Type = VIPS_INTERPRETATION_sRGB;
  return image;
}

// A region on this thread instead of libvips's threads: they would be started and joined for every
// picture, and one thread asks for the rows in one order.
Picture ComputePicture(VipsImage* image) {
  const size_t row_bytes = static_cast<size_t>(image->Xsize) * 3;
  Picture picture = {.width = image->Xsize, .height = image->Ysize, .pixels = {}};
  picture.pixels.resize(row_bytes * static_cast<size_t>(image->Ysize));
  CheckVips(vips_image_pio_input(image));
  const std::unique_ptr<VipsRegion, VipsUnref> region(vips_region_new(image));
  if (region == nullptr) throw VipsFailure();
  uint8_t* out = picture.pixels.data();
  for (int top = 0; top < image->Ysize; top += kStripRows) {
    const VipsRect strip = {0, top, image->Xsize, std::min(kStripRows, image->Ysize - top)};
    CheckVips(vips_region_prepare(region.get(), &strip));
    for (int row = 0; row < strip.height; ++row, out += row_bytes) {
      std::memcpy(out, VIPS_REGION_ADDR(region.get(), 0, top + row), row_bytes);
    }
  }
  return picture;
}

PictureSize FitWithin(PictureSize size, Index max_side) {
  const Index longest = std::max(size.width, size.height);
  if (max_side == 0 || longest <= max_side) return size;
  const auto scaled = [&](Index side) {
    return std::max<Index>(1, (side * max_side + longest / 2) / longest);
  };
  return {scaled(size.width), scaled(size.height)};
}

VipsImagePtr ScaleDown(VipsImagePtr image, PictureSize size) {
  if (image->Xsize == size.width && image->Ysize == size.height) return image;
  VipsImage* scaled = nullptr;
  CheckVips(vips_resize(image.get(), &scaled, static_cast<double>(size.width) / image->Xsize,
                        "vscale", static_cast<double>(size.height) / image->Ysize, nullptr));
  return VipsImagePtr(scaled);
}

}  // namespace bitpool
