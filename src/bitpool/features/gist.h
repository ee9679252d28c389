#pragma once

#include <memory>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"

namespace bitpool {

struct GistOptions {
  // Filters of each scale, from the finest to the coarsest. (8 + 8 + 4) filters × 4 × 4 blocks =
  // 320, the dimension that the hashing literature uses for CIFAR-10; 8, 8, 4 are the values in the
  // demonstration that came with the authors' first code.
  std::vector<int> orientations_per_scale = {8, 8, 4};
  int blocks = 4;               // the picture is cut into blocks × blocks
  double prefilter_cutoff = 4;  // cycles per padded picture at which whitening removes half
  int boundary_extension = 32;  // mirrored pixels on every side of the picture, for the filters

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

// GIST, from A. Oliva and A. Torralba, "Modeling the shape of the scene: a holistic representation
// of the spatial envelope", IJCV 42(3), 2001, as the authors' LMgist computes it from a grey
// picture: contrast is stretched to 0..255 and normalised locally, Gabor filters of several scales
// and orientations are applied in the Fourier domain, and the magnitude of each response is
// averaged over blocks of the picture.
//
// Made for small pictures: a transform is a product with a matrix of cosines and sines. Never
// changes and may be used from many threads; copies share what was prepared.
class GistExtractor {
 public:
  // Prepares the filters. Throws kInvalidArgument for options or sizes that make no sense.
  explicit GistExtractor(const GistOptions& options, Index width, Index height);

  Index width() const { return width_; }
  Index height() const { return height_; }
  Index dimension() const { return dimension_; }  // of a descriptor; 320 with the default options

  // The descriptors, one per column, of grey pictures, one per column with width × height pixels
  // row by row. The range of the values does not matter, as it is stretched; a picture of one value
  // has the descriptor 0. Descriptors are ordered by scale, then orientation, then blocks from left
  // to right and, within these, from top to bottom (the authors' order).
  // A picture's descriptor does not depend on the pictures beside it, to the last bit.
  // Throws kInvalidArgument for another size and, naming the picture, for values that are not
  // finite.
  MatrixF Extract(const MatrixFRef& pictures) const;

 private:
  struct Plan;

  Index width_;
  Index height_;
  Index dimension_;
  std::shared_ptr<const Plan> plan_;
};

// The descriptors of all pictures, in parallel; the same as GistExtractor::Extract.
MatrixF ExtractAll(const GistExtractor& extractor, const MatrixFRef& pictures,
                   const RunContext& context);

}  // namespace bitpool
