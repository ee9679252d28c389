#include "bitpool/samples/feature_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"

namespace bitpool {

MemoryFeatureSet::MemoryFeatureSet(Index dimension, Index images_per_picture)
    : dimension_(dimension), images_per_picture_(images_per_picture) {
  if (images_per_picture < 1) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("feature set: {} images per picture, expected at least 1", images_per_picture));
  }
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

FeatureSubset::FeatureSubset(const FeatureSet& set, std::vector<Index> images, double from,
                             double to)
    : set_(set), images_(std::move(images)), from_(from), to_(to) {
  if (!(0 <= from && from < to && to <= 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("part of the descriptors: expected 0 <= from < to <= 1, got {} to {}",
                            from, to));
  }
  for (const Index image : images_) {
    if (image >= 0 && image < set.size()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("image {}: the set has {} images", image, set.size()));
  }
}

FeatureSubset FeatureSubset::OfPictures(const FeatureSet& set, const std::vector<Index>& pictures) {
  const Index each = set.images_per_picture();
  std::vector<Index> images;
  for (const Index picture : pictures) {
    for (Index i = 0; i < each; ++i) images.push_back(each * picture + i);
  }
  FeatureSubset subset(set, std::move(images));
  subset.images_per_picture_ = each;
  return subset;
}

FeatureSubset FeatureSubset::WithViews(const FeatureSet& set, Index views) {
  const Index each = std::min(1 + views, set.images_per_picture());
  std::vector<Index> images;
  for (Index first = 0; first < set.size(); first += set.images_per_picture()) {
    for (Index i = 0; i < each; ++i) images.push_back(first + i);
  }
  FeatureSubset subset(set, std::move(images));
  subset.images_per_picture_ = each;
  return subset;
}

FeatureSubset::Range FeatureSubset::RangeOf(Index descriptors) const {
  if (descriptors == 0) return {.first = 0, .count = 0};
  const auto count = static_cast<double>(descriptors);
  const Index first = std::min(descriptors - 1, static_cast<Index>(from_ * count));
  const Index end = to_ == 1 ? descriptors : static_cast<Index>(to_ * count);
  return {.first = first, .count = std::clamp<Index>(end - first, 1, descriptors - first)};
}

Index FeatureSubset::descriptor_count(Index image) const {
  return RangeOf(set_.descriptor_count(Original(image))).count;
}

void FeatureSubset::Read(Index image, MatrixF& descriptors) const {
  MatrixF all;
  set_.Read(Original(image), all);
  const Range range = RangeOf(all.cols());
  descriptors = all.middleCols(range.first, range.count);
}

JoinedFeatureSet::JoinedFeatureSet(std::vector<std::shared_ptr<const FeatureSet>> sets)
    : sets_(std::move(sets)) {
  if (sets_.empty()) throw Error(ErrorCode::kInvalidArgument, "no feature sets to join");
  const Index dimension = sets_.front()->dimension(), each = sets_.front()->images_per_picture();
  Index end = 0;
  for (const auto& set : sets_) {
    if (set->dimension() != dimension) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("feature sets of dimension {} and {} cannot be joined", dimension,
                              set->dimension()));
    }
    if (set->images_per_picture() != each) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("feature sets with {} and {} images per picture cannot be joined",
                              each, set->images_per_picture()));
    }
    end += set->size();
    ends_.push_back(end);
  }
}

JoinedFeatureSet::Place JoinedFeatureSet::Find(Index image) const {
  if (image < 0 || image >= size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("image {}: the set has {} images", image, size()));
  }
  const auto set = std::ranges::upper_bound(ends_, image) - ends_.begin();
  const Index first = set == 0 ? 0 : ends_[static_cast<size_t>(set) - 1];
  return {.set = *sets_[static_cast<size_t>(set)], .image = image - first};
}

std::string JoinedFeatureSet::name(Index image) const {
  const Place place = Find(image);
  return place.set.name(place.image);
}

Index JoinedFeatureSet::descriptor_count(Index image) const {
  const Place place = Find(image);
  return place.set.descriptor_count(place.image);
}

void JoinedFeatureSet::Read(Index image, MatrixF& descriptors) const {
  const Place place = Find(image);
  place.set.Read(place.image, descriptors);
}

DescriptorParts::DescriptorParts(const FeatureSet& set, Index parts, uint64_t seed)
    : set_(set), parts_(parts), seed_(seed) {
  if (parts < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("parts of the descriptors: expected 2 or more, got {}", parts));
  }
  if (set.images_per_picture() > 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "parts of the descriptors: expected images without views, which are better");
  }
}

std::string DescriptorParts::name(Index image) const {
  const Index part = image % images_per_picture();
  const std::string name = set_.name(image / images_per_picture());
  return part == 0 ? name : fmt::format("{}#{}", name, part);
}

Index DescriptorParts::CountOf(Index part, Index descriptors) const {
  if (part == 0 || descriptors < parts_) return descriptors;
  return descriptors / parts_ + (part <= descriptors % parts_ ? 1 : 0);
}

Index DescriptorParts::descriptor_count(Index image) const {
  return CountOf(image % images_per_picture(), set_.descriptor_count(image / images_per_picture()));
}

void DescriptorParts::Read(Index image, MatrixF& descriptors) const {
  const Index original = image / images_per_picture(), part = image % images_per_picture();
  MatrixF all;
  set_.Read(original, all);
  if (part == 0 || all.cols() < parts_) {
    descriptors = std::move(all);
    return;
  }
  std::vector<Index> order(static_cast<size_t>(all.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  Random(seed_).Fork(static_cast<uint64_t>(original)).Shuffle(order);
  std::vector<Index> mine;
  for (size_t i = static_cast<size_t>(part) - 1; i < order.size();
       i += static_cast<size_t>(parts_)) {
    mine.push_back(order[i]);
  }
  std::ranges::sort(mine);
  descriptors = all(Eigen::all, mine);
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
