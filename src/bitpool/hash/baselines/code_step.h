#pragma once

#include "bitpool/base/matrix.h"
#include "bitpool/linalg/ridge.h"

namespace bitpool {

// The step of the binary autoencoder that improves the codes while decoder and encoder stay: for
// each sample x with hash v = h(x), all codes in {−1, 1},
//   minimise over z:  ‖x − f(z)‖² + penalty · (number of bits in which z and v differ)
//     = zᵀGz − 2zᵀb + const,   f(z) = Az + c,  G = AᵀA,  b = Aᵀ(x − c) + penalty/4 · v.
// With codes in {0, 1}, as in the publication, the penalty is the same μ‖z − v‖².
class CodeStep {
 public:
  // Codes of up to `enumerate_bits` bits are found exactly, by trying all; longer ones by
  // alternating optimisation over the bits, which ends where no change of one bit helps. It starts
  // from the present code and from the solution over the box [−1, 1]ᴸ, rounded bit after bit with
  // regard to the others, and the better result wins: a code never becomes worse, and stays when no
  // better one is found. REQUIRES: penalty >= 0, enumerate_bits <= kMaxEnumerateBits.
  CodeStep(const LinearMap& decoder, double penalty, int enumerate_bits);

  // Column i of all three belongs together. `hashes` and `codes` are −1 or +1; codes are changed in
  // place.
  void Improve(const MatrixFRef& samples, const MatrixFRef& hashes,
               Eigen::Ref<MatrixF> codes) const;

  static constexpr int kMaxEnumerateBits = 16;

 private:
  // Below, a row is a sample, so that one bit of neighbouring samples fills a vector register.
  void Enumerate(const MatrixF& linear, MatrixF& codes) const;
  void Alternate(const MatrixF& linear, MatrixF& codes) const;
  void RelaxToBox(const MatrixF& linear, MatrixF& codes) const;
  VectorF DescendOverBits(const MatrixF& linear, MatrixF& codes) const;

  MatrixF decoder_;      // A
  VectorF offset_;       // Aᵀc
  MatrixF gram_;         // G
  float pull_;           // penalty / 4
  MatrixF all_codes_;    // every code, a row each, when they are few
  VectorF all_squares_;  // zᵀGz of each
};

}  // namespace bitpool
