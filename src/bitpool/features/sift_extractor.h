#pragma once

#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/features/grey_picture.h"
#include "bitpool/features/local_extractor.h"

// SIFT descriptors, computed by VLFeat: 4 × 4 places and 8 directions, 128 values, in VLFeat's
// order (directions, then places from left to right, then from top to bottom). All extractors throw
// kInvalidArgument for pictures of more than 2²⁴ pixels, which must be scaled down first.

namespace bitpool {

struct HessianAffineOptions {
  // Least response of the detector, for grey from 0 to 1. Edited copies of 120 training photographs
  // find their picture more often than with 0.0004 (32 bits: 99.7 % against 99.3 %).
  double peak_threshold = 0.0001;
  double edge_threshold = 10;  // a region may be this many times as long as it is wide
  // Keep this many: spots (det H > 0) from the strongest on, then saddles (det H < 0). Of edited
  // copies of 120 training photographs that finds a few more than the strongest of both (32
  // bits: 99.7 % against 99.5 % in first place, 91.1 % against 90.0 % within 2 bits).
  Index max_regions = 1000;
  int first_octave = 0;  // -1: look for the smallest regions in the picture doubled; twice the time
  // The patches stand upright, as most photographs do. Where that holds, telling apart what lies
  // from what stands is worth more than finding again what was turned, and it is cheaper (Perd'och,
  // Chum and Matas, "Efficient representation of local geometry for large scale object retrieval",
  // CVPR 2009: the gravity vector). Off: a patch is turned to its dominant gradients, once for each
  // direction of at least 80% of the strongest, so a region may have several descriptors.
  bool upright = true;
  bool root = true;  // RootSIFT (Arandjelović and Zisserman, CVPR 2012): unit L1, square roots

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

// A place of a picture with its neighbourhood: an ellipse, the image of the unit circle under
// p ↦ [a11 a12; a21 a22] p + (x, y), in pixels.
struct AffineRegion {
  float x = 0, y = 0;
  float a11 = 0, a12 = 0, a21 = 0, a22 = 0;
  float score = 0;  // response of the detector: positive for a spot, negative for a saddle
};

struct DescribedRegions {
  std::vector<AffineRegion> regions;  // spots, then saddles, from the strongest to the weakest
  MatrixF descriptors;                // column i describes region i
};

// SIFT on Hessian-affine regions (Mikolajczyk and Schmid, "Scale and affine invariant interest
// point detectors", IJCV 2004), the paper's local features. Patches and descriptors have the
// geometry of VLFeat's vl_covdet command: 31 × 31 pixels for 7.5 times the region.
class HessianAffineSift : public LocalExtractor {
 public:
  explicit HessianAffineSift(const HessianAffineOptions& options = {});

  Index dimension() const override { return 128; }
  MatrixF Extract(const Picture& picture) const override;

  // The same with the regions. Pictures with a side of less than 16 pixels have none. Throws
  // kInvalidArgument for pixels that are not in [0, 1].
  DescribedRegions Describe(const GreyPicture& picture) const;

 private:
  HessianAffineOptions options_;
};

struct DenseSiftOptions {
  // Pixels from one descriptor to the next, across and down. With these scales a photograph of
  // 480 × 360 has about 2200 descriptors, as many as other extractors find, that overlap by half.
  int step = 12;
  // Sides of a place in pixels, one per scale; a descriptor of size s covers 4s × 4s pixels.
  std::vector<int> bin_sizes = {6, 12};
  double magnification = 6;  // a scale is smoothed by bin size / this; 0: not smoothed
  bool fast = true;          // a flat window instead of a Gaussian one: several times faster
  // Least mean gradient, for grey from 0 to 1. What lies below is noise or rounding, which the
  // normalisation would amplify.
  double contrast_threshold = 0.005;
  bool root = true;  // RootSIFT: unit L1, square roots
  // The picture is first freed of its plain borders and scaled to a square of this side, so that
  // neither borders nor sizes nor proportions make a difference. Where no gradient reaches the
  // least one, it is described without that limit. 0: the picture is left as it is.
  Index side = 0;

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

// SIFT on a regular grid, scale after scale, row by row. A scale whose descriptors do not fit into
// the picture has none. For tiny pictures, such as 28 × 28, small steps and bins (2 and 3, say).
class DenseSift : public LocalExtractor {
 public:
  explicit DenseSift(const DenseSiftOptions& options = {});

  Index dimension() const override { return 128; }
  MatrixF Extract(const Picture& picture) const override;

  // The same from grey pixels. Throws kInvalidArgument for pixels that are not in [0, 1].
  MatrixF Describe(const GreyPicture& picture) const;

 private:
  DenseSiftOptions options_;
};

}  // namespace bitpool
