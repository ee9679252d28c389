#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "bitpool/io/container.h"
#include "bitpool/samples/feature_set.h"

namespace bitpool {

// How descriptors are stored: half the size with three decimal digits, or single precision.
enum class Precision { kHalf, kSingle };

// Writes a feature set to a container (.bpf), image after image, in memory that does not grow with
// the descriptors.
class FeatureFileWriter {
 public:
  // Views are appended right after their picture. Throws kInvalidArgument for a dimension or a
  // number of images per picture that has no meaning.
  FeatureFileWriter(Env& env, const std::filesystem::path& path, Index dimension,
                    Precision precision, IfExists if_exists, Index images_per_picture = 1);

  // Throws kInvalidArgument, naming the image, for another dimension, or a number that is not
  // finite or too large for half precision; the image is then not part of the file and the next can
  // be added.
  void Append(const std::string& name, const MatrixFRef& descriptors);

  // `about` says how the descriptors were made, for later readers of the file. REQUIRES: the last
  // picture has all of its images.
  void Commit(const nlohmann::json& about);

 private:
  ContainerWriter writer_;
  Index dimension_;
  Precision precision_;
  uint64_t images_per_picture_;
  std::vector<uint64_t> descriptor_ends_;
  std::vector<uint64_t> name_ends_;
  std::string names_;
  MatrixF contiguous_;
  std::vector<uint16_t> halves_;
};

// A feature set in a file, mapped: opening is fast and memory stays bounded at any size.
class FeatureFile : public FeatureSet {
 public:
  static FeatureFile Open(Env& env, const std::filesystem::path& path);
  static FeatureFile Parse(Container container);

  Index size() const override { return static_cast<Index>(descriptor_ends_.size()); }
  Index dimension() const override { return dimension_; }
  Index images_per_picture() const override { return images_per_picture_; }
  std::string name(Index image) const override;
  Index descriptor_count(Index image) const override;
  void Read(Index image, MatrixF& descriptors) const override;

  Precision precision() const { return precision_; }
  // The descriptors of an image as they lie in the file, verified, in this precision. Valid as long
  // as a copy of this exists. Throws as Read does.
  std::span<const std::byte> Stored(Index image) const;
  const nlohmann::json& about() const { return container_.metadata(); }

 private:
  explicit FeatureFile(Container container);
  void ReadImagesPerPicture();

  Container container_;
  Section descriptors_;
  Index dimension_;
  Index images_per_picture_ = 1;
  Precision precision_;
  std::span<const uint64_t> descriptor_ends_;
  std::span<const uint64_t> name_ends_;
  std::span<const uint8_t> names_;
};

// The pictures of a file without their views, for what is searched, asks, or has labels of its own.
std::shared_ptr<const FeatureSet> OpenPictures(Env& env, const std::filesystem::path& path);

}  // namespace bitpool
