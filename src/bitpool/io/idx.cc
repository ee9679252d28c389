#include "bitpool/io/idx.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

uint64_t BigEndian32(std::span<const std::byte> bytes, uint64_t offset) {
  uint64_t number = 0;
  for (uint64_t i = 0; i < 4; ++i)
    number = number << 8 | std::to_integer<uint64_t>(bytes[offset + i]);
  return number;
}

}  // namespace

SampleFile ParseIdx(const std::shared_ptr<const FileView>& view) {
  constexpr uint64_t kMaxRank = 4;
  constexpr int kUnsignedByte = 0x08;
  const std::span<const std::byte> bytes = view->bytes();
  const auto fail = [&](ErrorCode code, uint64_t offset, std::string_view problem) {
    throw Error(code, view->name(), fmt::format("offset {}: {}", offset, problem));
  };
  if (bytes.size() < 4) fail(ErrorCode::kCorrupt, 0, "the file ends inside the magic number");
  if (bytes[0] != std::byte{0} || bytes[1] != std::byte{0}) {
    const bool gzip = bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
    fail(ErrorCode::kCorrupt, 0,
         gzip ? "compressed with gzip, unpack it first" : "not an IDX file (wrong magic)");
  }
  if (std::to_integer<int>(bytes[2]) != kUnsignedByte) {
    fail(ErrorCode::kUnsupported, 2,
         fmt::format("element type {:#04x}, expected {:#04x} (unsigned bytes)",
                     std::to_integer<int>(bytes[2]), kUnsignedByte));
  }
  const auto rank = std::to_integer<uint64_t>(bytes[3]);
  if (rank < 1 || rank > kMaxRank) {
    fail(ErrorCode::kCorrupt, 3, fmt::format("{} dimensions, expected 1 to {}", rank, kMaxRank));
  }
  const uint64_t base = 4 + 4 * rank;
  if (bytes.size() < base)
    fail(ErrorCode::kCorrupt, bytes.size(), "the file ends inside the dimensions");
  std::vector<uint64_t> dims;
  for (uint64_t i = 0; i < rank; ++i) dims.push_back(BigEndian32(bytes, 4 + 4 * i));
  SampleLayout layout{.dtype = DType::kU1,
                      .sample_shape = {dims.begin() + 1, dims.end()},
                      .count = dims[0],
                      .base = base,
                      .stride = 0,
                      .repeated_prefix = {}};
  const std::optional<uint64_t> dimension = CheckedProduct(layout.sample_shape);
  const std::optional<uint64_t> length =
      dimension ? CheckedProduct(*dimension, layout.count) : std::nullopt;
  if (!length || *length != bytes.size() - base) {
    fail(ErrorCode::kCorrupt, 4,
         fmt::format("dimensions {} do not make the {} bytes that follow", fmt::join(dims, "×"),
                     bytes.size() - base));
  }
  layout.stride = *dimension;
  return {view, layout};
}

}  // namespace bitpool
