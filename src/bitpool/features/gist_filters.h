#pragma once

#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/features/gist.h"

// What this room shares: the filters of GIST. Not for users. A picture is the matrix of its pixels
// (x, y): row-major pixels are its columns.
namespace bitpool {

// The Fourier transform along one side of the extended picture, with real coefficients, which are
// half the work of complex ones. The basis is centred on the picture: cosines are even and sines
// odd about its middle, so the way back needs only the first half of the pixels, another half
// saved.
struct FourierAxis {
  FourierAxis(Index pixels, Index extension);

  Index length;       // N: pixels with the extension
  Index frequencies;  // N/2 + 1
  MatrixF analysis;   // pixels to coefficients: cosines, then sines
  MatrixF cosines;    // coefficients to the even part at the first half of the pixels
  MatrixF sines;      // the same for the odd part
};

// The transfer function of a filter, which is real, split into parts that are even or odd in the
// frequency across and down, for frequencies that are not negative.
struct FilterParts {
  MatrixF even_even, even_odd, odd_even, odd_odd;
};

// Gabor filters and the average of the magnitude of their responses (`gistGabor` of the authors).
class GistFilters {
 public:
  GistFilters(const GistOptions& options, Index width, Index height);

  // Buffers for Describe. All that is summed lies in matrices of its own: the order of Eigen's sums
  // can depend on where the numbers begin in memory.
  struct Workspace {
    MatrixF product;
    MatrixF spectrum;   // coefficients across × coefficients down
    MatrixF response;   // coefficients across × (real, imaginary) × coefficients down
    MatrixF halves;     // (even, odd) pixels across × (real, imaginary) × coefficients down
    MatrixF even, odd;  // (even, odd) pixels across × (real, imaginary) × pixels down
    MatrixF sum, difference;
    MatrixF magnitude;
    MatrixF means;
  };

  Index dimension() const {
    return static_cast<Index>(filters_.size()) * means_across_.rows() * means_down_.rows();
  }

  void Describe(const MatrixF& picture, Workspace& work, Eigen::Ref<VectorF> descriptor) const;

 private:
  void Transform(const MatrixF& picture, Workspace& work) const;
  void TransformBack(Workspace& work) const;
  void Magnitude(Workspace& work) const;

  FourierAxis across_;
  FourierAxis down_;
  MatrixF means_across_;
  MatrixF means_down_;
  std::vector<FilterParts> filters_;
};

}  // namespace bitpool
