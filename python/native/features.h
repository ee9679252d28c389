#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrays.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/samples/feature_set.h"

namespace bitpool::python {

// Images as arrays of local descriptors, which are converted as they are read.
class ArrayFeatureSet : public FeatureSet {
 public:
  // The arrays must outlive this. Throws kInvalidArgument, naming the image, for an array of
  // another shape or dimension, and when the images are not whole pictures.
  ArrayFeatureSet(const std::vector<py::array>& images, std::vector<std::string> names,
                  Index images_per_picture);

  Index size() const override { return static_cast<Index>(images_.size()); }
  Index dimension() const override { return images_.front().dimension(); }
  Index images_per_picture() const override { return images_per_picture_; }
  std::string name(Index image) const override;
  Index descriptor_count(Index image) const override { return At(image).size(); }
  void Read(Index image, MatrixF& descriptors) const override;

 private:
  const ArrayColumns& At(Index image) const { return images_.at(static_cast<size_t>(image)); }

  std::vector<ArrayColumns> images_;
  std::vector<std::string> names_;
  Index images_per_picture_;
};

// A feature set with whatever keeps it alive. Used with the GIL; the set itself without it.
struct Features {
  std::shared_ptr<const FeatureSet> set;
  std::vector<py::array> arrays = {};                    // of an ArrayFeatureSet
  std::shared_ptr<const FeatureFile> file = nullptr;     // of a set in a file
  std::shared_ptr<const FeatureSet> parts_of = nullptr;  // of DescriptorParts
};

}  // namespace bitpool::python
