#pragma once

#include <string>
#include <vector>

#include "bitpool/base/matrix.h"

namespace bitpool {

// An ordered list of images, each a name and a D×n matrix of local descriptors with its own n. In
// memory or in a file larger than memory. Reading changes nothing and may be done from many threads
// at once.
class FeatureSet {
 public:
  virtual ~FeatureSet() = default;

  virtual Index size() const = 0;       // number of images
  virtual Index dimension() const = 0;  // D
  virtual std::string name(Index image) const = 0;
  virtual Index descriptor_count(Index image) const = 0;

  // Makes `descriptors` the D×n matrix of the image. Throws kCorrupt, naming the image, when it is
  // damaged.
  virtual void Read(Index image, MatrixF& descriptors) const = 0;
};

class MemoryFeatureSet : public FeatureSet {
 public:
  explicit MemoryFeatureSet(Index dimension);

  // Throws kInvalidArgument, naming the image, for another dimension or a number that is not
  // finite.
  void Add(std::string name, MatrixF descriptors);

  Index size() const override { return static_cast<Index>(names_.size()); }
  Index dimension() const override { return dimension_; }
  std::string name(Index image) const override { return names_.at(static_cast<size_t>(image)); }
  Index descriptor_count(Index image) const override;
  void Read(Index image, MatrixF& descriptors) const override;

 private:
  Index dimension_;
  std::vector<std::string> names_;
  std::vector<MatrixF> descriptors_;
};

// What every feature set holds to: D as said and finite numbers. Throws kInvalidArgument that names
// the image.
void RequireDescriptors(const std::string& image, const MatrixFRef& descriptors, Index dimension);

}  // namespace bitpool
