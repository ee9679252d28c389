#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bitpool/io/dtype.h"
#include "bitpool/io/file_view.h"

namespace bitpool {

// Where the samples of a file lie. All formats we read keep samples of one size at a fixed
// distance, with or without something in between (vecs: the dimension; CIFAR-10: the label), so one
// class reads them all.
struct SampleLayout {
  DType dtype = DType::kU1;
  std::vector<uint64_t> sample_shape;  // empty: one number per sample
  uint64_t count = 0;                  // number of samples
  uint64_t base = 0;                   // offset of the first sample
  uint64_t stride = 0;                 // distance from one sample to the next
  std::optional<int32_t>
      repeated_prefix;  // the number right before every sample, where the format repeats one
};

// The most numbers one sample may have. It bounds what an empty file can make a reader allocate.
inline constexpr uint64_t kMaxDimension = uint64_t{1} << 24;

// Samples of one element type and shape in a file, read in ranges so that the file may be larger
// than memory. May be used from many threads.
class SampleFile {
 public:
  // Returns the bytes [offset, offset + length) of the file.
  using Fetch = std::function<std::span<const std::byte>(uint64_t offset, uint64_t length)>;

  // Throws kCorrupt when a sample has no component or more than kMaxDimension.
  // REQUIRES: count · stride + base fits into what fetch can return.
  SampleFile(std::string name, SampleLayout layout, Fetch fetch);
  SampleFile(const std::shared_ptr<const FileView>& view, SampleLayout layout);

  const std::string& name() const { return name_; }
  DType dtype() const { return layout_.dtype; }
  const std::vector<uint64_t>& sample_shape() const { return layout_.sample_shape; }
  uint64_t count() const { return layout_.count; }
  uint64_t dimension() const { return dimension_; }  // numbers per sample
  uint64_t sample_bytes() const { return dimension_ * DTypeSize(layout_.dtype); }
  uint64_t stride() const { return layout_.stride; }

  // All samples as they lie in the file, sample_bytes() of every stride(), for those who convert
  // them themselves. Valid as long as a copy of this exists. Throws kCorrupt where the format
  // states the dimension with every sample and one states another; numbers are not checked.
  std::span<const std::byte> Stored() const;

  // Copies samples [first, first + count) one after the other as elements of type `as` (by the
  // rules of ConvertElements). Throws kCorrupt, with the offset in the file, for a number that is
  // not finite or does not fit. REQUIRES: the range is within the file and `out` has room for
  // exactly these samples.
  void Read(uint64_t first, uint64_t count, DType as, std::span<std::byte> out) const;

  template <class T>
  void Read(uint64_t first, uint64_t count, std::span<T> out) const {
    Read(first, count, DTypeOf<T>(), std::as_writable_bytes(out));
  }

  // The whole file.
  template <class T>
  std::vector<T> ReadAll() const {
    std::vector<T> values(count() * dimension());
    Read<T>(0, count(), std::span<T>(values));
    return values;
  }

 private:
  void ReadOne(uint64_t index, const std::byte* stored, DType as, std::span<std::byte> out) const;
  // REQUIRES: the format has one.
  void RequirePrefix(uint64_t index, const std::byte* stored) const;

  std::string name_;
  SampleLayout layout_;
  uint64_t dimension_;
  Fetch fetch_;
};

}  // namespace bitpool
