#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bitpool/io/atomic_file.h"
#include "bitpool/io/env.h"
#include "bitpool/io/sample_file.h"

namespace bitpool {

// Opens a file of samples; its name tells the format:
//   .npy  .fvecs  .bvecs  .ivecs  .siftgeo  .bpv (our container of vectors)  .bin (CIFAR-10
//   pictures) .idx and names that end in -ubyte (MNIST's files)
// Throws kUnsupported, listing these, for any other name.
SampleFile OpenSamples(Env& env, const std::filesystem::path& path);

// Whether OpenSamples knows this kind of name.
bool IsSampleFileName(const std::filesystem::path& path);

// Writes samples one after the other in bounded memory; the file appears on Commit.
class SampleWriter {
 public:
  virtual ~SampleWriter() = default;
  // REQUIRES: a whole number of samples.
  virtual void Append(std::span<const std::byte> samples) = 0;
  virtual void Commit() = 0;

  template <class T>
  void Append(std::span<const T> values) {
    Append(std::as_bytes(values));
  }
};

// The element type a format always has (.fvecs: f4 …), or nothing for formats that take any (.npy,
// .bpv). Throws kUnsupported for names that cannot be written.
std::optional<DType> RequiredDType(const std::filesystem::path& path);

// Creates .npy, .fvecs, .bvecs, .ivecs or .bpv. An empty shape writes one number per sample.
// Throws kInvalidArgument when the format does not take this element type.
std::unique_ptr<SampleWriter> CreateSamples(Env& env, const std::filesystem::path& path,
                                            DType dtype, std::vector<uint64_t> sample_shape,
                                            IfExists if_exists);

}  // namespace bitpool
