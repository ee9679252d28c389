#include "bitpool/io/vecs.h"

#include <fmt/format.h>

#include <cstring>

#include "bitpool/base/error.h"

namespace bitpool {

SampleFile ParseVecs(const std::shared_ptr<const FileView>& view, DType dtype) {
  const std::span<const std::byte> bytes = view->bytes();
  int32_t dimension = 0;
  if (bytes.size() < sizeof(dimension)) {
    throw Error(ErrorCode::kCorrupt, view->name(),
                "offset 0: the file ends before the first dimension");
  }
  std::memcpy(&dimension, bytes.data(), sizeof(dimension));
  if (dimension <= 0) {
    throw Error(ErrorCode::kCorrupt, view->name(),
                fmt::format("offset 0: dimension {}, expected a positive number", dimension));
  }
  const auto wide = static_cast<uint64_t>(dimension);
  const uint64_t stride = sizeof(dimension) + wide * DTypeSize(dtype);
  if (bytes.size() % stride != 0) {
    throw Error(ErrorCode::kCorrupt, view->name(),
                fmt::format("offset {}: the file ends inside sample {} of dimension {}",
                            bytes.size(), bytes.size() / stride, dimension));
  }
  return {view, SampleLayout{.dtype = dtype,
                             .sample_shape = {wide},
                             .count = bytes.size() / stride,
                             .base = sizeof(dimension),
                             .stride = stride,
                             .repeated_prefix = dimension}};
}

}  // namespace bitpool
