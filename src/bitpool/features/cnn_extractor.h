#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "bitpool/features/local_extractor.h"

namespace bitpool {

// The bytes of the files of a trained network: a Caffe definition (.prototxt, text) with its
// weights (.caffemodel), or an ONNX file alone, whose weights are part of it.
struct CnnFiles {
  std::span<const std::byte> definition;
  std::span<const std::byte> weights;  // empty for ONNX
};

// What a network is fed with, and which of its outputs is taken.
struct CnnOptions {
  std::string layer = "fire9/concat";                  // whose maps are the features
  int size = 224;                                      // pictures are scaled to size × size
  std::array<double, 3> mean = {104.0, 117.0, 123.0};  // of blue, green, red, subtracted first
  double scale = 1;                                    // then all is multiplied by this
  bool rgb = false;  // the network wants red first; Caffe's usually want blue first

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// The maps of a layer of a convolutional network as local features: every position is a descriptor
// with the values of all maps there (section V-C of the paper). A layer without positions, such as
// a fully-connected one, gives one descriptor, a global vector.
class CnnExtractor : public LocalExtractor {
 public:
  // Throws kCorrupt for files that are not such a network, kInvalidArgument for a layer it does not
  // have or for a size it cannot take.
  CnnExtractor(const CnnFiles& files, const CnnOptions& options);
  ~CnnExtractor() override;

  Index dimension() const override { return dimension_; }
  bool gives_one_vector() const override { return positions_ == 1; }
  MatrixF Extract(const Picture& picture) const override;

 private:
  MatrixF Columns(const Picture& picture) const;

  // Networks are not made to be used by two threads at once; every thread borrows one.
  class Networks;

  CnnOptions options_;
  std::unique_ptr<Networks> networks_;
  Index dimension_ = 0, positions_ = 0;
};

// The layer that a network ends in. Throws kCorrupt as CnnExtractor does, and kInvalidArgument for
// a network with several ends.
std::string OutputLayer(const CnnFiles& files);

}  // namespace bitpool
