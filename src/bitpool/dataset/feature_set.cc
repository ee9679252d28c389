#include "bitpool/dataset/feature_set.h"

#include <fmt/format.h>

#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {

MemoryFeatureSet::MemoryFeatureSet(Index dimension) : dimension_(dimension) {
  if (dimension < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("feature set: dimension {}, expected at least 1", dimension));
  }
}

void MemoryFeatureSet::Add(std::string name, MatrixF descriptors) {
  RequireDescriptors(name, descriptors, dimension_);
  names_.push_back(std::move(name));
  descriptors_.push_back(std::move(descriptors));
}

Index MemoryFeatureSet::descriptor_count(Index image) const {
  return descriptors_.at(static_cast<size_t>(image)).cols();
}

void MemoryFeatureSet::Read(Index image, MatrixF& descriptors) const {
  descriptors = descriptors_.at(static_cast<size_t>(image));
}

void RequireDescriptors(const std::string& image, const MatrixFRef& descriptors, Index dimension) {
  if (descriptors.rows() != dimension) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("image \"{}\": descriptors of dimension {}, expected {}", image,
                            descriptors.rows(), dimension));
  }
  if (!descriptors.allFinite()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("image \"{}\": a descriptor has a component that is not a finite number",
                    image));
  }
}

}  // namespace bitpool
