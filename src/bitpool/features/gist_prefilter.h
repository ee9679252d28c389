#pragma once

#include <vector>

#include "bitpool/base/matrix.h"

// What this room shares: the first step of GIST. Not for users.
namespace bitpool {

// Whitening and local contrast normalisation (`prefilt` of the authors). A picture is the matrix of
// its pixels (x, y): row-major pixels are its columns.
class GistPrefilter {
 public:
  // `cutoff` as GistOptions has it.
  GistPrefilter(double cutoff, Index width, Index height);

  // Buffers for Apply.
  struct Workspace {
    MatrixF padded, product, smoothed;
  };

  // Replaces the picture by what the filters are applied to.
  void Apply(MatrixF& picture, Workspace& work) const;

 private:
  // The pixel at every position of the square that the padded picture is continued to.
  std::vector<Index> across_;
  std::vector<Index> down_;
  MatrixF smooth_;  // symmetric
};

}  // namespace bitpool
