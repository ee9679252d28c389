#include "bitpool/io/siftgeo.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"

namespace bitpool {

SampleFile ParseSiftgeo(const std::shared_ptr<const FileView>& view) {
  constexpr uint64_t kGeometryBytes = 9 * sizeof(float);
  constexpr int32_t kDimension = 128;
  constexpr uint64_t kBase = kGeometryBytes + sizeof(kDimension);
  constexpr uint64_t kStride = kBase + kDimension;
  const uint64_t size = view->bytes().size();
  if (size % kStride != 0) {
    throw Error(ErrorCode::kCorrupt, view->name(),
                fmt::format("offset {}: the file ends inside descriptor {}, each has {} bytes",
                            size, size / kStride, kStride));
  }
  return {view, SampleLayout{.dtype = DType::kU1,
                             .sample_shape = {static_cast<uint64_t>(kDimension)},
                             .count = size / kStride,
                             .base = kBase,
                             .stride = kStride,
                             .repeated_prefix = kDimension}};
}

}  // namespace bitpool
