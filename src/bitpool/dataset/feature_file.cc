#include "bitpool/dataset/feature_file.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/half.h"
#include "bitpool/io/mapping_guard.h"
#include "bitpool/io/sample_file.h"

namespace bitpool {
namespace {

constexpr const char* kKind = "features";
constexpr const char* kDescriptors = "descriptors";
constexpr const char* kDescriptorEnds = "descriptor_ends";
constexpr const char* kNameEnds = "name_ends";
constexpr const char* kNames = "names";
constexpr const char* kImagesPerPicture = "images_per_picture";  // only where there are views
constexpr Index kMaxImagesPerPicture = Index{1} << 20;

// `ends` must ascend to exactly `total`: then every range it makes lies within what it counts.
void CheckEnds(const Container& container, const char* section, std::span<const uint64_t> ends,
               uint64_t total) {
  uint64_t previous = 0;
  for (const uint64_t end : ends) {
    if (end < previous) {
      throw container.Damaged(section, fmt::format("{} follows {}", end, previous));
    }
    previous = end;
  }
  if (previous != total) {
    throw container.Damaged(section, fmt::format("ends at {}, expected {}", previous, total));
  }
}

uint64_t Start(std::span<const uint64_t> ends, size_t image) {
  return image == 0 ? 0 : ends[image - 1];
}

// Does what Eigen's own does, but that one frees a matrix twice when there is no memory for its new
// size; here nothing is left to free by then.
void Resize(MatrixF& matrix, Index rows, Index columns) {
  if (matrix.size() != rows * columns) matrix.resize(0, 0);
  matrix.resize(rows, columns);
}

// Ends ascend, but those of a file that somebody cuts off turn to zeros.
uint64_t Count(std::span<const uint64_t> ends, size_t image) {
  const uint64_t start = Start(ends, image), end = ends[image];
  return end > start ? end - start : 0;
}

}  // namespace

FeatureFileWriter::FeatureFileWriter(Env& env, const std::filesystem::path& path, Index dimension,
                                     Precision precision, IfExists if_exists,
                                     Index images_per_picture)
    : writer_(env, path, kKind, if_exists),
      dimension_(dimension),
      precision_(precision),
      images_per_picture_(static_cast<uint64_t>(images_per_picture)) {
  if (dimension < 1 || dimension > static_cast<Index>(kMaxDimension)) {
    throw Error(ErrorCode::kInvalidArgument, path.string(),
                fmt::format("dimension {}, expected 1 to {}", dimension, kMaxDimension));
  }
  if (images_per_picture < 1 || images_per_picture > kMaxImagesPerPicture) {
    throw Error(ErrorCode::kInvalidArgument, path.string(),
                fmt::format("{} images per picture, expected 1 to {}", images_per_picture,
                            kMaxImagesPerPicture));
  }
  writer_.Begin(kDescriptors, precision == Precision::kHalf ? DType::kF2 : DType::kF4);
}

void FeatureFileWriter::Append(const std::string& name, const MatrixFRef& descriptors) {
  RequireDescriptors(name, descriptors, dimension_);
  Resize(contiguous_, descriptors.rows(), descriptors.cols());
  contiguous_ = descriptors;  // a block of a larger matrix may have gaps between its columns
  const std::span<const float> values(contiguous_.data(), static_cast<size_t>(contiguous_.size()));
  if (precision_ == Precision::kHalf) {
    halves_.resize(values.size());
    FloatToHalf(values, halves_);
    if (!AllFinite(halves_)) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format(
              "image \"{}\": a component is beyond ±65504, the largest number in half precision; "
              "scale the descriptors or store single precision",
              name));
    }
    writer_.Append(std::as_bytes(std::span(halves_)));
  } else {
    writer_.Append(std::as_bytes(values));
  }
  names_ += name;
  name_ends_.push_back(names_.size());
  descriptor_ends_.push_back(Start(descriptor_ends_, descriptor_ends_.size()) +
                             static_cast<uint64_t>(descriptors.cols()));
}

void FeatureFileWriter::Commit(const nlohmann::json& about) {
  const uint64_t images = descriptor_ends_.size();
  if (images % images_per_picture_ != 0) {
    throw Error(ErrorCode::kInternal,
                fmt::format("{} images, expected {} of each picture", images, images_per_picture_));
  }
  writer_.End({Start(descriptor_ends_, images), static_cast<uint64_t>(dimension_)});
  writer_.Add<uint64_t>(kDescriptorEnds, {images}, descriptor_ends_);
  writer_.Add<uint64_t>(kNameEnds, {images}, name_ends_);
  writer_.Add(kNames, DType::kU1, {names_.size()}, std::as_bytes(std::span(names_)));
  if (images_per_picture_ > 1) {
    writer_.Add<uint64_t>(kImagesPerPicture, {1}, std::span(&images_per_picture_, 1));
  }
  writer_.Commit(about);
}

FeatureFile FeatureFile::Open(Env& env, const std::filesystem::path& path) {
  return Parse(Container::Open(env, path));
}

FeatureFile FeatureFile::Parse(Container container) { return FeatureFile(std::move(container)); }

FeatureFile::FeatureFile(Container container) : container_(std::move(container)) {
  container_.ExpectKind(kKind);
  descriptors_ = container_.Find(kDescriptors);
  const bool half = descriptors_.dtype == DType::kF2;
  container_.Find(kDescriptors, half ? DType::kF2 : DType::kF4, 2);
  precision_ = half ? Precision::kHalf : Precision::kSingle;
  // The container has checked that both dimensions make the length of the section; 0 × anything is
  // left to check.
  if (descriptors_.dims[1] < 1 || descriptors_.dims[1] > kMaxDimension) {
    throw container_.Damaged(kDescriptors, fmt::format("dimension {}, expected 1 to {}",
                                                       descriptors_.dims[1], kMaxDimension));
  }
  dimension_ = static_cast<Index>(descriptors_.dims[1]);
  descriptor_ends_ = container_.ReadArray<uint64_t>(kDescriptorEnds, 1);
  name_ends_ = container_.ReadArray<uint64_t>(kNameEnds, 1);
  names_ = container_.ReadArray<uint8_t>(kNames, 1);
  CheckEnds(container_, kDescriptorEnds, descriptor_ends_, descriptors_.dims[0]);
  CheckEnds(container_, kNameEnds, name_ends_, names_.size());
  if (name_ends_.size() != descriptor_ends_.size()) {
    throw container_.Damaged(kNameEnds, fmt::format("{} names for {} images", name_ends_.size(),
                                                    descriptor_ends_.size()));
  }
  ReadImagesPerPicture();
}

void FeatureFile::ReadImagesPerPicture() {
  if (!container_.Has(kImagesPerPicture)) return;
  const auto read = container_.ReadArray<uint64_t>(kImagesPerPicture, 1);
  const uint64_t images = descriptor_ends_.size();
  if (read.size() != 1 || read[0] < 1 || read[0] > uint64_t{kMaxImagesPerPicture} ||
      images % read[0] != 0) {
    throw container_.Damaged(kImagesPerPicture,
                             fmt::format("expected one number from 1 to {} that divides {} images",
                                         kMaxImagesPerPicture, images));
  }
  images_per_picture_ = static_cast<Index>(read[0]);
}

std::string FeatureFile::name(Index image) const {
  const auto i = static_cast<size_t>(image);
  const uint64_t begin = Start(name_ends_, i);
  return {reinterpret_cast<const char*>(names_.data()) + begin, Count(name_ends_, i)};
}

Index FeatureFile::descriptor_count(Index image) const {
  return static_cast<Index>(Count(descriptor_ends_, static_cast<size_t>(image)));
}

std::span<const std::byte> FeatureFile::Stored(Index image) const {
  const uint64_t row_bytes = static_cast<uint64_t>(dimension_) * DTypeSize(descriptors_.dtype);
  const uint64_t first = Start(descriptor_ends_, static_cast<size_t>(image));
  try {
    return container_.Read(descriptors_, first * row_bytes,
                           static_cast<uint64_t>(descriptor_count(image)) * row_bytes);
  } catch (const Error& error) {
    throw error.With(fmt::format("image {}, \"{}\"", image, name(image)));
  }
}

void FeatureFile::Read(Index image, MatrixF& descriptors) const {
  const std::span<const std::byte> bytes = Stored(image);
  const auto row_bytes = dimension_ * static_cast<Index>(DTypeSize(descriptors_.dtype));
  Resize(descriptors, dimension_, static_cast<Index>(bytes.size()) / row_bytes);
  const std::span<float> out(descriptors.data(), static_cast<size_t>(descriptors.size()));
  if (precision_ == Precision::kHalf) {
    HalfToFloat({reinterpret_cast<const uint16_t*>(bytes.data()), out.size()}, out);
  } else if (!bytes.empty()) {
    std::memcpy(out.data(), bytes.data(), bytes.size());
  }
  RequireWhole(bytes);
}

std::shared_ptr<const FeatureSet> OpenPictures(Env& env, const std::filesystem::path& path) {
  struct Pictures {
    explicit Pictures(FeatureFile opened)
        : file(std::move(opened)), subset(FeatureSubset::WithoutViews(file)) {}
    FeatureFile file;
    FeatureSubset subset;  // of the file, which must not move
  };
  const auto pictures = std::make_shared<Pictures>(FeatureFile::Open(env, path));
  return {pictures, &pictures->subset};
}

}  // namespace bitpool
