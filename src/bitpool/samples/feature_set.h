#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bitpool/base/matrix.h"

namespace bitpool {

// An ordered list of images, each a name and a D×n matrix of local descriptors with its own n. In
// memory or in a file larger than memory. Reading changes nothing and may be done from many threads
// at once.
//
// Some images may be views of others: then all pictures have equally many images, which stand one
// after the other, the picture itself first.
class FeatureSet {
 public:
  virtual ~FeatureSet() = default;

  virtual Index size() const = 0;       // number of images
  virtual Index dimension() const = 0;  // D
  // Images of one picture, itself and its views; 1: there are no views. Divides the size.
  virtual Index images_per_picture() const { return 1; }
  Index pictures() const { return size() / images_per_picture(); }
  virtual std::string name(Index image) const = 0;
  virtual Index descriptor_count(Index image) const = 0;

  // Makes `descriptors` the D×n matrix of the image. Throws kCorrupt, naming the image, when it is
  // damaged.
  virtual void Read(Index image, MatrixF& descriptors) const = 0;
};

class MemoryFeatureSet : public FeatureSet {
 public:
  // The images of each picture are added together. Throws kInvalidArgument for a dimension or a
  // number of images below 1.
  explicit MemoryFeatureSet(Index dimension, Index images_per_picture = 1);

  // Throws kInvalidArgument, naming the image, for another dimension or a number that is not
  // finite.
  void Add(std::string name, MatrixF descriptors);

  Index size() const override { return static_cast<Index>(names_.size()); }
  Index dimension() const override { return dimension_; }
  Index images_per_picture() const override { return images_per_picture_; }
  std::string name(Index image) const override { return names_.at(static_cast<size_t>(image)); }
  Index descriptor_count(Index image) const override;
  void Read(Index image, MatrixF& descriptors) const override;

 private:
  Index dimension_, images_per_picture_;
  std::vector<std::string> names_;
  std::vector<MatrixF> descriptors_;
};

// Some images of a set, in this order, with a part of their descriptors: those from the share
// `from` to the share `to` of their number, at least one where an image has any. Where descriptors
// are in the order of their place in the picture, such a part is a window of it.
class FeatureSubset : public FeatureSet {
 public:
  // The set must outlive this. Throws kInvalidArgument for an image that is not in the set, and for
  // shares that are not 0 <= from < to <= 1. Views and pictures are no longer told apart.
  FeatureSubset(const FeatureSet& set, std::vector<Index> images, double from = 0, double to = 1);
  // Some pictures, by their numbers among the pictures, each with all of its views.
  static FeatureSubset OfPictures(const FeatureSet& set, const std::vector<Index>& pictures);
  // All pictures with this many of their views, the first; with all where they have no more.
  static FeatureSubset WithViews(const FeatureSet& set, Index views);
  // All pictures without their views.
  static FeatureSubset WithoutViews(const FeatureSet& set) { return WithViews(set, 0); }

  Index size() const override { return static_cast<Index>(images_.size()); }
  Index dimension() const override { return set_.dimension(); }
  Index images_per_picture() const override { return images_per_picture_; }
  std::string name(Index image) const override { return set_.name(Original(image)); }
  Index descriptor_count(Index image) const override;
  void Read(Index image, MatrixF& descriptors) const override;

 private:
  Index Original(Index image) const { return images_.at(static_cast<size_t>(image)); }
  struct Range {
    Index first, count;
  };
  Range RangeOf(Index descriptors) const;

  const FeatureSet& set_;
  std::vector<Index> images_;
  double from_, to_;
  Index images_per_picture_ = 1;
};

// Several sets one after the other, as one.
class JoinedFeatureSet : public FeatureSet {
 public:
  // Throws kInvalidArgument without any set, and for sets of different dimensions or with different
  // numbers of views.
  explicit JoinedFeatureSet(std::vector<std::shared_ptr<const FeatureSet>> sets);

  Index size() const override { return ends_.back(); }
  Index dimension() const override { return sets_.front()->dimension(); }
  Index images_per_picture() const override { return sets_.front()->images_per_picture(); }
  std::string name(Index image) const override;
  Index descriptor_count(Index image) const override;
  void Read(Index image, MatrixF& descriptors) const override;

 private:
  struct Place {
    const FeatureSet& set;
    Index image;
  };
  Place Find(Index image) const;

  std::vector<std::shared_ptr<const FeatureSet>> sets_;
  std::vector<Index> ends_;  // images of all sets up to and including this one
};

// Images without views, with stand-ins for them: every image is followed by this many disjoint
// random parts of its descriptors. What changes between the parts is what a code should ignore, as
// far as one picture can show it; changes of light, angle and size are not part of it.
class DescriptorParts : public FeatureSet {
 public:
  // The set must outlive this. Throws kInvalidArgument for fewer than two parts, and for a set with
  // views.
  DescriptorParts(const FeatureSet& set, Index parts, uint64_t seed);

  Index size() const override { return set_.size() * images_per_picture(); }
  Index dimension() const override { return set_.dimension(); }
  Index images_per_picture() const override { return 1 + parts_; }
  std::string name(Index image) const override;
  Index descriptor_count(Index image) const override;
  // An image with fewer descriptors than parts stands whole for each of them.
  void Read(Index image, MatrixF& descriptors) const override;

 private:
  Index CountOf(Index part, Index descriptors) const;

  const FeatureSet& set_;
  Index parts_;
  uint64_t seed_;
};

// What every feature set must satisfy: the stated D and finite numbers. Throws kInvalidArgument
// that names the image.
void RequireDescriptors(const std::string& image, const MatrixFRef& descriptors, Index dimension);

}  // namespace bitpool
