#include "bitpool/hash/baselines/affinity_codebook.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "bitpool/hash/baselines/quasi_newton.h"

namespace bitpool {
namespace {

// A codeword is found when it would move by less than this share of the edge.
constexpr double kMoveTolerance = 1e-4;

}  // namespace

AffinityCodebook::AffinityCodebook(Index dimension, int bits, double edge)
    : codewords_(MatrixD::Zero(dimension, Index{1} << bits)),
      target_(codewords_.cols(), codewords_.cols()),
      edge_(edge) {
  for (Index code = 0; code < codewords_.cols(); ++code) {
    for (int bit = 0; bit < bits; ++bit) {
      codewords_(bit, code) = (code >> bit & 1) != 0 ? edge / 2 : -edge / 2;
    }
    for (Index other = 0; other < codewords_.cols(); ++other) {
      target_(other, code) = edge * std::sqrt(std::popcount(static_cast<uint64_t>(code ^ other)));
    }
  }
}

double AffinityCodebook::Objective(const CellSums& cells, double lambda) const {
  const double samples = cells.counts.sum();
  const VectorD squared_norms = codewords_.colwise().squaredNorm();
  const double quantisation = cells.squares - 2 * cells.totals.cwiseProduct(codewords_).sum() +
                              squared_norms.dot(cells.counts);
  double affinity = 0;
  for (Index j = 0; j < codewords_.cols(); ++j) {
    const VectorD distances = (codewords_.colwise() - codewords_.col(j)).colwise().norm();
    const VectorD errors = (distances - target_.col(j)).array().square();
    affinity += cells.counts[j] * errors.dot(cells.counts);
  }
  return quantisation / samples + lambda * affinity / (samples * samples);
}

void AffinityCodebook::Update(const CellSums& cells, double lambda) {
  for (Index j = 0; j < codewords_.cols(); ++j) {
    if (cells.counts[j] > 0) UpdateCodeword(j, cells, lambda);
  }
}

// With its part of all samples, n_j / n, taken out, the part of the objective that depends on c_j
// is
//   ‖c − mean_j‖² + 2λ Σ_{i≠j} n_i/n (‖c − c_i‖ − d_h(i, j))² + a constant.
void AffinityCodebook::UpdateCodeword(Index j, const CellSums& cells, double lambda) {
  const VectorD mean = cells.totals.col(j) / cells.counts[j];
  VectorD weights = 2 * lambda / cells.counts.sum() * cells.counts;
  weights[j] = 0;
  VectorD distances(weights.size()), pulls(weights.size());
  const auto function = [&](const VectorD& c, VectorD& gradient) {
    distances = (codewords_.colwise() - c).colwise().norm();
    const auto errors = distances - target_.col(j);
    // Two codewords at one place have no direction to part in, and pull with weight zero.
    pulls = (distances.array() > 0)
                .select(weights.array() * errors.array() / distances.array().max(1e-300), 0.0);
    gradient = 2 * (c - mean) + 2 * pulls.sum() * c;
    gradient.noalias() -= 2 * (codewords_ * pulls);
    return (c - mean).squaredNorm() + weights.dot(errors.array().square().matrix());
  };
  QuasiNewtonOptions options;
  // Without −‖c − c_i‖ d_h, which is concave and so lies below its tangents, the function is a
  // parabola of this curvature: this step along the gradient always leads down.
  options.first_step = 1 / (2 * (1 + weights.sum()));
  options.gradient_tolerance = 2 * kMoveTolerance * edge_;
  VectorD codeword = codewords_.col(j);
  MinimiseQuasiNewton(options, function, codeword);
  codewords_.col(j) = codeword;
}

}  // namespace bitpool
