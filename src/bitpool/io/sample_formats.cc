#include "bitpool/io/sample_formats.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/io/cifar.h"
#include "bitpool/io/container.h"
#include "bitpool/io/idx.h"
#include "bitpool/io/npy.h"
#include "bitpool/io/siftgeo.h"
#include "bitpool/io/vecs.h"

namespace bitpool {
namespace {

constexpr const char* kVectorsKind = "vectors";
constexpr const char* kSamples = "samples";

enum class Format { kNpy, kFvecs, kBvecs, kIvecs, kSiftgeo, kVectors, kCifar, kIdx };

std::optional<Format> FormatOf(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".npy") return Format::kNpy;
  if (extension == ".fvecs") return Format::kFvecs;
  if (extension == ".bvecs") return Format::kBvecs;
  if (extension == ".ivecs") return Format::kIvecs;
  if (extension == ".siftgeo") return Format::kSiftgeo;
  if (extension == ".bpv") return Format::kVectors;
  if (extension == ".bin") return Format::kCifar;
  if (extension == ".idx" || path.filename().string().ends_with("-ubyte")) return Format::kIdx;
  return std::nullopt;
}

SampleFile OpenVectors(Env& env, const std::filesystem::path& path) {
  const Container container = Container::Open(env, path);
  container.ExpectKind(kVectorsKind);
  const Section& section = container.Find(kSamples);
  SampleLayout layout{.dtype = section.dtype,
                      .sample_shape = {section.dims.begin() + 1, section.dims.end()},
                      .count = section.dims[0],
                      .base = 0,
                      .stride = 0,
                      .repeated_prefix = {}};
  // The container has checked the product of all dimensions; SampleFile checks that of the sample.
  layout.stride = CheckedProduct(layout.sample_shape).value_or(0) * DTypeSize(layout.dtype);
  return {container.name(), layout, [container, section](uint64_t offset, uint64_t length) {
            return container.Read(section, offset, length);
          }};
}

class NpyWriter : public SampleWriter {
 public:
  NpyWriter(Env& env, const std::filesystem::path& path, DType dtype,
            std::vector<uint64_t> sample_shape, IfExists if_exists)
      : file_(env, path, if_exists), dtype_(dtype), shape_(std::move(sample_shape)) {
    sample_bytes_ = *CheckedProduct(shape_) * DTypeSize(dtype);
    shape_.insert(shape_.begin(), 0);                         // the count, known on Commit
    const std::array<std::byte, kNpyHeaderBytes> blank = {};  // the real header is written last
    file_.Append(blank);
  }
  using SampleWriter::Append;
  void Append(std::span<const std::byte> samples) override { file_.Append(samples); }
  void Commit() override {
    shape_[0] = (file_.size() - kNpyHeaderBytes) / sample_bytes_;
    const std::string header = NpyHeader(dtype_, shape_);
    file_.WriteAt(0, std::as_bytes(std::span(header)));
    file_.Commit();
  }

 private:
  AtomicFile file_;
  DType dtype_;
  std::vector<uint64_t> shape_;
  uint64_t sample_bytes_;
};

class VecsWriter : public SampleWriter {
 public:
  VecsWriter(Env& env, const std::filesystem::path& path, DType dtype, int32_t dimension,
             IfExists if_exists)
      : file_(env, path, if_exists),
        dimension_(dimension),
        sample_bytes_(static_cast<size_t>(dimension) * DTypeSize(dtype)) {}
  using SampleWriter::Append;
  void Append(std::span<const std::byte> samples) override {
    for (; !samples.empty(); samples = samples.subspan(sample_bytes_)) {
      file_.Append(std::as_bytes(std::span(&dimension_, 1)));
      file_.Append(samples.first(sample_bytes_));
    }
  }
  void Commit() override {
    if (file_.size() == 0) {
      throw Error(ErrorCode::kInvalidArgument, file_.path().string(),
                  "a vecs file cannot hold an empty set");
    }
    file_.Commit();
  }

 private:
  AtomicFile file_;
  int32_t dimension_;
  size_t sample_bytes_;
};

class VectorsWriter : public SampleWriter {
 public:
  VectorsWriter(Env& env, const std::filesystem::path& path, DType dtype,
                std::vector<uint64_t> sample_shape, IfExists if_exists)
      : writer_(env, path, kVectorsKind, if_exists), dims_(std::move(sample_shape)) {
    sample_bytes_ = *CheckedProduct(dims_) * DTypeSize(dtype);
    dims_.insert(dims_.begin(), 0);
    writer_.Begin(kSamples, dtype);
  }
  using SampleWriter::Append;
  void Append(std::span<const std::byte> samples) override {
    writer_.Append(samples);
    dims_[0] += samples.size() / sample_bytes_;
  }
  void Commit() override {
    writer_.End(dims_);
    writer_.Commit(nlohmann::json::object());
  }

 private:
  ContainerWriter writer_;
  std::vector<uint64_t> dims_;
  uint64_t sample_bytes_;
};

}  // namespace

SampleFile OpenSamples(Env& env, const std::filesystem::path& path) {
  const std::optional<Format> format = FormatOf(path);
  if (!format) {
    throw Error(ErrorCode::kUnsupported, path.string(),
                "unknown kind of file, expected .npy, .fvecs, .bvecs, .ivecs, .siftgeo, .bpv, .bin "
                "(CIFAR-10), .idx or a name that ends in -ubyte");
  }
  switch (*format) {
    case Format::kNpy:
      return ParseNpy(env.Map(path));
    case Format::kFvecs:
      return ParseVecs(env.Map(path), DType::kF4);
    case Format::kBvecs:
      return ParseVecs(env.Map(path), DType::kU1);
    case Format::kIvecs:
      return ParseVecs(env.Map(path), DType::kI4);
    case Format::kSiftgeo:
      return ParseSiftgeo(env.Map(path));
    case Format::kVectors:
      return OpenVectors(env, path);
    case Format::kCifar:
      return ParseCifar(env.Map(path)).pictures;
    case Format::kIdx:
      return ParseIdx(env.Map(path));
  }
  throw Error(ErrorCode::kInternal, "OpenSamples: unknown format");
}

bool IsSampleFileName(const std::filesystem::path& path) { return FormatOf(path).has_value(); }

std::optional<DType> RequiredDType(const std::filesystem::path& path) {
  const std::optional<Format> format = FormatOf(path);
  if (format == Format::kNpy || format == Format::kVectors) return std::nullopt;
  if (format == Format::kFvecs) return DType::kF4;
  if (format == Format::kBvecs) return DType::kU1;
  if (format == Format::kIvecs) return DType::kI4;
  throw Error(ErrorCode::kUnsupported, path.string(),
              "cannot write this kind of file, expected .npy, .fvecs, .bvecs, .ivecs or .bpv");
}

std::unique_ptr<SampleWriter> CreateSamples(Env& env, const std::filesystem::path& path,
                                            DType dtype, std::vector<uint64_t> sample_shape,
                                            IfExists if_exists) {
  const std::optional<DType> required = RequiredDType(path);
  if (required && *required != dtype) {
    throw Error(
        ErrorCode::kInvalidArgument, path.string(),
        fmt::format("this format holds {}, not {}", DTypeName(*required), DTypeName(dtype)));
  }
  const uint64_t dimension = CheckedProduct(sample_shape).value_or(0);
  if (dimension < 1 || dimension > kMaxDimension || sample_shape.size() >= kMaxSectionDims) {
    throw Error(ErrorCode::kInvalidArgument, path.string(),
                fmt::format("cannot write samples of shape ({})", fmt::join(sample_shape, ", ")));
  }
  const Format format = *FormatOf(path);
  if (format == Format::kNpy) {
    return std::make_unique<NpyWriter>(env, path, dtype, std::move(sample_shape), if_exists);
  }
  if (format == Format::kVectors) {
    return std::make_unique<VectorsWriter>(env, path, dtype, std::move(sample_shape), if_exists);
  }
  return std::make_unique<VecsWriter>(env, path, dtype, static_cast<int32_t>(dimension), if_exists);
}

}  // namespace bitpool
