#include "bitpool/io/sample_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/io/mapping_guard.h"

namespace bitpool {
namespace {

// Large enough that a range of samples costs one fetch, small enough that memory stays bounded.
constexpr uint64_t kFetchBytes = uint64_t{1} << 24;

}  // namespace

SampleFile::SampleFile(std::string name, SampleLayout layout, Fetch fetch)
    : name_(std::move(name)),
      layout_(std::move(layout)),
      dimension_(CheckedProduct(layout_.sample_shape).value_or(0)),
      fetch_(std::move(fetch)) {
  if (dimension_ < 1 || dimension_ > kMaxDimension) {
    throw Error(ErrorCode::kCorrupt, name_,
                fmt::format("samples of shape ({}), expected 1 to {} components",
                            fmt::join(layout_.sample_shape, ", "), kMaxDimension));
  }
}

SampleFile::SampleFile(const std::shared_ptr<const FileView>& view, SampleLayout layout)
    : SampleFile(view->name(), std::move(layout), [view](uint64_t offset, uint64_t length) {
        view->NoteTouched(length);
        RequireWhole(view->bytes());
        return view->bytes().subspan(offset, length);
      }) {}

void SampleFile::Read(uint64_t first, uint64_t count, DType as, std::span<std::byte> out) const {
  const uint64_t prefix = layout_.repeated_prefix ? sizeof(int32_t) : 0;
  const uint64_t out_bytes = dimension_ * DTypeSize(as);
  const uint64_t step = std::max<uint64_t>(1, kFetchBytes / layout_.stride);
  for (uint64_t done = 0; done < count; done += step) {
    const uint64_t block = std::min(step, count - done);
    const uint64_t offset = layout_.base + (first + done) * layout_.stride - prefix;
    const std::span<const std::byte> bytes =
        fetch_(offset, (block - 1) * layout_.stride + prefix + sample_bytes());
    for (uint64_t i = 0; i < block; ++i) {
      ReadOne(first + done + i, bytes.data() + i * layout_.stride + prefix, as,
              out.subspan((done + i) * out_bytes, out_bytes));
    }
  }
  // Asks whether the file has been whole until now. An empty one need not reach as far as `base`.
  if (count > 0) fetch_(layout_.base, 0);
}

std::span<const std::byte> SampleFile::Stored() const {
  if (count() == 0) return {};
  const std::span<const std::byte> bytes =
      fetch_(layout_.base, (count() - 1) * layout_.stride + sample_bytes());
  for (uint64_t i = 0; layout_.repeated_prefix && i < count(); ++i) {
    RequirePrefix(i, bytes.data() + i * layout_.stride);
  }
  return bytes;
}

void SampleFile::RequirePrefix(uint64_t index, const std::byte* stored) const {
  int32_t prefix = 0;
  std::memcpy(&prefix, stored - sizeof(prefix), sizeof(prefix));
  if (prefix == *layout_.repeated_prefix) return;
  throw Error(ErrorCode::kCorrupt, name_,
              fmt::format("offset {}: sample {} has dimension {}, expected {}",
                          layout_.base + index * layout_.stride - sizeof(prefix), index, prefix,
                          *layout_.repeated_prefix));
}

void SampleFile::ReadOne(uint64_t index, const std::byte* stored, DType as,
                         std::span<std::byte> out) const {
  const uint64_t offset = layout_.base + index * layout_.stride;
  if (layout_.repeated_prefix) RequirePrefix(index, stored);
  size_t bad = 0;
  if (!ConvertElements(layout_.dtype, {stored, sample_bytes()}, as, out, &bad)) {
    throw Error(
        ErrorCode::kCorrupt, name_,
        fmt::format("offset {}: sample {}, component {}: expected {}",
                    offset + bad * DTypeSize(layout_.dtype), index, bad, DescribeFitting(as)));
  }
}

}  // namespace bitpool
