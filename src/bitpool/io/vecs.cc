#include "bitpool/io/vecs.h"

#include <fmt/format.h>

#include <cstring>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

uint64_t StrideOf(int32_t dimension, DType dtype) {
  return sizeof(dimension) + static_cast<uint64_t>(dimension) * DTypeSize(dtype);
}

// Refuses a dimension that has no meaning as it stands but would have one in the other byte order.
void RequireLittleEndian(const FileView& view, int32_t dimension, DType dtype) {
  const uint64_t size = view.bytes().size();
  if (dimension > 0 && size % StrideOf(dimension, dtype) == 0) return;
  const auto swapped = static_cast<int32_t>(__builtin_bswap32(static_cast<uint32_t>(dimension)));
  if (swapped <= 0 || size % StrideOf(swapped, dtype) != 0) return;
  throw Error(ErrorCode::kUnsupported, view.name(),
              fmt::format("big-endian (dimension {}); expected little-endian numbers", swapped));
}

}  // namespace

SampleFile ParseVecs(const std::shared_ptr<const FileView>& view, DType dtype) {
  const std::span<const std::byte> bytes = view->bytes();
  int32_t dimension = 0;
  if (bytes.size() < sizeof(dimension)) {
    throw Error(ErrorCode::kCorrupt, view->name(),
                "offset 0: the file ends before the first dimension");
  }
  std::memcpy(&dimension, bytes.data(), sizeof(dimension));
  RequireLittleEndian(*view, dimension, dtype);
  if (dimension <= 0) {
    throw Error(ErrorCode::kCorrupt, view->name(),
                fmt::format("offset 0: dimension {}, expected a positive number", dimension));
  }
  const auto wide = static_cast<uint64_t>(dimension);
  const uint64_t stride = StrideOf(dimension, dtype);
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
