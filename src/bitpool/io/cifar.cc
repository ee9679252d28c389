#include "bitpool/io/cifar.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"

namespace bitpool {

CifarBatch ParseCifar(const std::shared_ptr<const FileView>& view) {
  constexpr uint64_t kPixels = 3 * 32 * 32;
  constexpr uint64_t kStride = 1 + kPixels;
  constexpr int kClasses = 10;
  const std::span<const std::byte> bytes = view->bytes();
  if (bytes.empty() || bytes.size() % kStride != 0) {
    throw Error(ErrorCode::kCorrupt, view->name(),
                fmt::format("offset {}: the file ends inside picture {}, each has {} bytes",
                            bytes.size(), bytes.size() / kStride, kStride));
  }
  const uint64_t count = bytes.size() / kStride;
  for (uint64_t i = 0; i < count; ++i) {
    const int label = std::to_integer<int>(bytes[i * kStride]);
    if (label >= kClasses) {
      throw Error(ErrorCode::kCorrupt, view->name(),
                  fmt::format("offset {}: picture {} has label {}, expected 0 to {}", i * kStride,
                              i, label, kClasses - 1));
    }
  }
  view->NoteTouched(bytes.size());
  const SampleLayout pictures{.dtype = DType::kU1,
                              .sample_shape = {3, 32, 32},
                              .count = count,
                              .base = 1,
                              .stride = kStride,
                              .repeated_prefix = {}};
  const SampleLayout labels{.dtype = DType::kU1,
                            .sample_shape = {},
                            .count = count,
                            .base = 0,
                            .stride = kStride,
                            .repeated_prefix = {}};
  return {.pictures = {view, pictures}, .labels = {view, labels}};
}

}  // namespace bitpool
