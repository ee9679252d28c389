#include "bitpool/dataset/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/io/sample_formats.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBlockBytes = uint64_t{1} << 22;

bool IsFeatureFileName(const fs::path& path) { return path.extension() == ".bpf"; }

// Everything one conversion works with.
struct Job {
  Env& env;
  fs::path in;
  fs::path out;
  const ConvertOptions& options;
  const RunContext& context;
};

uint64_t SamplesPerBlock(uint64_t sample_bytes) {
  return std::max<uint64_t>(1, kBlockBytes / sample_bytes);
}

ConvertReport VectorsToVectors(const Job& job) {
  const SampleFile in = OpenSamples(job.env, job.in);
  const DType dtype = job.options.dtype.value_or(RequiredDType(job.out).value_or(in.dtype()));
  const auto out = CreateSamples(job.env, job.out, dtype, in.sample_shape(), job.options.if_exists);
  Progress progress = job.context.StartProgress("converting", "samples", in.count());
  const uint64_t sample_bytes = in.dimension() * DTypeSize(dtype);
  std::vector<std::byte> block;
  for (uint64_t done = 0; done < in.count();) {
    job.context.ThrowIfStopped();
    const uint64_t count = std::min(SamplesPerBlock(sample_bytes), in.count() - done);
    block.resize(count * sample_bytes);
    in.Read(done, count, dtype, block);
    out->Append(block);
    done += count;
    progress.Advance(count);
  }
  out->Commit();
  return {.written = in.count(), .failures = {}};
}

Precision OutputPrecision(const Job& job, DType stored) {
  const DType dtype = job.options.dtype.value_or(stored == DType::kF2 ? DType::kF2 : DType::kF4);
  if (dtype != DType::kF2 && dtype != DType::kF4) {
    throw Error(ErrorCode::kInvalidArgument, job.out.string(),
                fmt::format("a feature set holds f2 or f4, not {}", DTypeName(dtype)));
  }
  return dtype == DType::kF2 ? Precision::kHalf : Precision::kSingle;
}

nlohmann::json About(const Job& job) { return {{"converted_from", job.in.filename().string()}}; }

// Rows [first, first + count) as columns of a matrix.
MatrixF ReadColumns(const SampleFile& file, uint64_t first, uint64_t count, Index dimension) {
  MatrixF columns(dimension, static_cast<Index>(count * file.dimension()) / dimension);
  file.Read<float>(first, count, {columns.data(), static_cast<size_t>(columns.size())});
  return columns;
}

// How many rows of the input belong to each image.
std::vector<uint64_t> ImageCounts(const Job& job, const SampleFile& in) {
  if (in.sample_shape().size() == 2)
    return std::vector<uint64_t>(in.count(), 1);  // a row is a whole image
  if (in.sample_shape().size() > 2 || !job.options.counts) {
    throw Error(ErrorCode::kInvalidArgument, job.in.string(),
                "to make a feature set, expected an array of three dimensions (images, "
                "descriptors, components), or vectors with --counts, or a folder of files");
  }
  const SampleFile file = OpenSamples(job.env, *job.options.counts);
  std::vector<uint64_t> counts = file.ReadAll<uint64_t>();
  uint64_t left = in.count();
  for (const uint64_t count : counts) {
    if (count > left) {
      throw Error(ErrorCode::kInvalidArgument, job.options.counts->string(),
                  fmt::format("counts more than the {} rows of {}", in.count(), in.name()));
    }
    left -= count;
  }
  if (left != 0) {
    throw Error(
        ErrorCode::kInvalidArgument, job.options.counts->string(),
        fmt::format("counts {} rows, but {} has {}", in.count() - left, in.name(), in.count()));
  }
  return counts;
}

// Views are called as `extract --views` calls them.
std::string NameOf(size_t image, Index images_per_picture) {
  const auto per_picture = static_cast<size_t>(images_per_picture);
  const size_t picture = image / per_picture, view = image % per_picture;
  return view == 0 ? std::to_string(picture) : fmt::format("{}#{}", picture, view);
}

ConvertReport VectorsToFeatures(const Job& job) {
  const SampleFile in = OpenSamples(job.env, job.in);
  const std::vector<uint64_t> counts = ImageCounts(job, in);
  const Index per_picture = job.options.images_per_picture;
  if (counts.size() % static_cast<size_t>(per_picture) != 0) {
    throw Error(ErrorCode::kInvalidArgument, job.in.string(),
                fmt::format("has {} images, expected a multiple of the {} of every picture",
                            counts.size(), per_picture));
  }
  const auto dimension =
      static_cast<Index>(in.sample_shape().empty() ? 1 : in.sample_shape().back());
  FeatureFileWriter out(job.env, job.out, dimension, OutputPrecision(job, in.dtype()),
                        job.options.if_exists, per_picture);
  Progress progress = job.context.StartProgress("converting", "images", counts.size());
  uint64_t first = 0;
  for (size_t image = 0; image < counts.size(); ++image) {
    job.context.ThrowIfStopped();
    out.Append(NameOf(image, per_picture), ReadColumns(in, first, counts[image], dimension));
    first += counts[image];
    progress.Advance();
  }
  out.Commit(About(job));
  return {.written = counts.size(), .failures = {}};
}

ConvertReport FolderToFeatures(const Job& job) {
  std::vector<std::string> names;
  for (std::string& name : job.env.List(job.in)) {
    if (IsSampleFileName(name)) names.push_back(std::move(name));
  }
  ConvertReport report;
  std::unique_ptr<FeatureFileWriter> out;
  Progress progress = job.context.StartProgress("converting", "files", names.size());
  for (const std::string& name : names) {
    job.context.ThrowIfStopped();
    try {
      const SampleFile in = OpenSamples(job.env, job.in / name);
      const auto dimension = static_cast<Index>(in.dimension());
      const MatrixF descriptors = ReadColumns(in, 0, in.count(), dimension);
      if (!out) {
        out = std::make_unique<FeatureFileWriter>(
            job.env, job.out, dimension, OutputPrecision(job, in.dtype()), job.options.if_exists);
      }
      out->Append(name, descriptors);
      ++report.written;
    } catch (const Error& error) {
      // Damage concerns that file alone; anything else would repeat itself.
      if (error.code() != ErrorCode::kCorrupt && error.code() != ErrorCode::kUnsupported &&
          !(out && error.code() == ErrorCode::kInvalidArgument)) {
        throw;
      }
      report.failures.emplace_back(error.what());
    }
    progress.Advance();
  }
  if (!out) {
    throw Error(ErrorCode::kNotFound, job.in.string(),
                fmt::format("no readable file of vectors in this folder{}{}",
                            report.failures.empty() ? "" : "; the first says: ",
                            report.failures.empty() ? "" : report.failures.front()));
  }
  out->Commit(About(job));
  return report;
}

void WriteCounts(const Job& job, const FeatureFile& in) {
  const auto out =
      CreateSamples(job.env, *job.options.counts, DType::kI8, {}, job.options.if_exists);
  for (Index image = 0; image < in.size(); ++image) {
    const int64_t count = in.descriptor_count(image);
    out->Append<int64_t>({&count, 1});
  }
  out->Commit();
}

ConvertReport FeaturesToVectors(const Job& job) {
  const FeatureFile in = FeatureFile::Open(job.env, job.in);
  const DType stored = in.precision() == Precision::kHalf ? DType::kF2 : DType::kF4;
  const DType dtype = job.options.dtype.value_or(RequiredDType(job.out).value_or(stored));
  const auto out = CreateSamples(job.env, job.out, dtype, {static_cast<uint64_t>(in.dimension())},
                                 job.options.if_exists);
  Progress progress =
      job.context.StartProgress("converting", "images", static_cast<uint64_t>(in.size()));
  ConvertReport report;
  MatrixF descriptors;
  std::vector<std::byte> block;
  for (Index image = 0; image < in.size(); ++image) {
    job.context.ThrowIfStopped();
    in.Read(image, descriptors);
    const std::span<const float> values(descriptors.data(),
                                        static_cast<size_t>(descriptors.size()));
    block.resize(values.size() * DTypeSize(dtype));
    size_t bad = 0;
    if (!ConvertElements(DType::kF4, std::as_bytes(values), dtype, block, &bad)) {
      throw Error(ErrorCode::kInvalidArgument, job.in.string(),
                  fmt::format("image \"{}\": {} does not fit into {}", in.name(image), values[bad],
                              DTypeName(dtype)));
    }
    out->Append(block);
    report.written += static_cast<uint64_t>(descriptors.cols());
    progress.Advance();
  }
  if (job.options.counts) WriteCounts(job, in);
  out->Commit();
  return report;
}

}  // namespace

ConvertReport Convert(Env& env, const fs::path& in, const fs::path& out,
                      const ConvertOptions& options, const RunContext& context) {
  const Job job{.env = env, .in = in, .out = out, .options = options, .context = context};
  const bool to_images = IsFeatureFileName(out) && !IsFeatureFileName(in) && !env.IsFolder(in);
  if (options.images_per_picture < 1 || (options.images_per_picture > 1 && !to_images)) {
    throw Error(ErrorCode::kInvalidArgument, in.string(),
                fmt::format("{} images per picture: expected 1 or more, and more than 1 only where "
                            "a file of vectors becomes a feature set",
                            options.images_per_picture));
  }
  if (IsFeatureFileName(out)) {
    if (IsFeatureFileName(in)) {
      throw Error(ErrorCode::kInvalidArgument, in.string(), "is a feature set already");
    }
    return env.IsFolder(in) ? FolderToFeatures(job) : VectorsToFeatures(job);
  }
  RequiredDType(out);  // says what can be written before anything is read
  return IsFeatureFileName(in) ? FeaturesToVectors(job) : VectorsToVectors(job);
}

}  // namespace bitpool
