#include "bitpool/hash/baselines/code_step.h"

#include <algorithm>

namespace bitpool {
namespace {

// Samples treated at once: their codes and slopes stay in the first-level cache.
constexpr Index kLanes = 64;

// As in the authors' implementation: the change of a relaxed code (of width 2 here, 1 there) that
// ends the iteration, and limits that are hardly ever met.
constexpr float kBoxTolerance = 2e-4F;
constexpr int kBoxSweeps = 1000;
constexpr int kBitSweeps = 100;

float SignOf(float value) { return value >= 0 ? 1.0F : -1.0F; }

// One pass of coordinate descent on zᵀMz − 2zᵀb for every row z of `codes`, with `slopes`
// b − Mz kept up to date. `choose(aim, old)` is the new value of a coordinate whose old value is
// known; aim = b_i − Σ_{j≠i} M_ij z_j. Returns the largest change.
template <class Choose>
float Sweep(const MatrixF& matrix, MatrixF& codes, MatrixF& slopes, VectorF& change,
            const Choose& choose) {
  float largest = 0;
  for (Index bit = 0; bit < codes.cols(); ++bit) {
    const float curvature = matrix(bit, bit);
    float* code = codes.col(bit).data();
    const float* slope = slopes.col(bit).data();
    for (Index lane = 0; lane < codes.rows(); ++lane) {
      const float old = code[lane];
      code[lane] = choose(slope[lane] + curvature * old, old, curvature);
      change[lane] = code[lane] - old;
    }
    const float moved = change.cwiseAbs().maxCoeff();
    if (moved == 0) continue;
    for (Index other = 0; other < codes.cols(); ++other) {
      slopes.col(other) -= matrix(other, bit) * change;
    }
    largest = std::max(largest, moved);
  }
  return largest;
}

MatrixF SlopesAt(const MatrixF& codes, const MatrixF& matrix, const MatrixF& linear) {
  MatrixF slopes = linear;
  slopes.noalias() -= codes * matrix;
  return slopes;
}

MatrixF AllCodes(Index bits) {
  const Index count = Index{1} << bits;
  MatrixF codes(count, bits);
  for (Index code = 0; code < count; ++code) {
    for (Index bit = 0; bit < bits; ++bit) codes(code, bit) = (code >> bit & 1) != 0 ? 1.0F : -1.0F;
  }
  return codes;
}

}  // namespace

CodeStep::CodeStep(const LinearMap& decoder, double penalty, int enumerate_bits)
    : decoder_(decoder.weights),
      offset_(decoder.weights.transpose() * decoder.bias),
      gram_(decoder.weights.transpose() * decoder.weights),
      pull_(static_cast<float>(penalty / 4)) {
  if (decoder_.cols() > enumerate_bits) return;
  all_codes_ = AllCodes(decoder_.cols());
  all_squares_ = (all_codes_ * gram_).cwiseProduct(all_codes_).rowwise().sum();
}

void CodeStep::Improve(const MatrixFRef& samples, const MatrixFRef& hashes,
                       Eigen::Ref<MatrixF> codes) const {
  for (Index first = 0; first < samples.cols(); first += kLanes) {
    const Index count = std::min(kLanes, samples.cols() - first);
    MatrixF linear = pull_ * hashes.middleCols(first, count).transpose();
    linear.noalias() += samples.middleCols(first, count).transpose() * decoder_;
    linear.rowwise() -= offset_.transpose();
    MatrixF lanes = codes.middleCols(first, count).transpose();
    if (all_codes_.size() > 0) {
      Enumerate(linear, lanes);
    } else {
      Alternate(linear, lanes);
    }
    codes.middleCols(first, count) = lanes.transpose();
  }
}

void CodeStep::Enumerate(const MatrixF& linear, MatrixF& codes) const {
  MatrixF values = all_squares_.replicate(1, codes.rows());
  values.noalias() -= 2.0F * all_codes_ * linear.transpose();
  for (Index lane = 0; lane < codes.rows(); ++lane) {
    Index present = 0;
    for (Index bit = 0; bit < codes.cols(); ++bit) {
      present |= (codes(lane, bit) > 0 ? Index{1} : Index{0}) << bit;
    }
    Index best = 0;
    const float least = values.col(lane).minCoeff(&best);
    if (least < values(present, lane)) codes.row(lane) = all_codes_.row(best);
  }
}

void CodeStep::Alternate(const MatrixF& linear, MatrixF& codes) const {
  MatrixF rounded = codes;
  RelaxToBox(linear, rounded);
  // The first sweep over the bits is the authors' greedy rounding of a relaxed code.
  const VectorF rounded_values = DescendOverBits(linear, rounded);
  const VectorF values = DescendOverBits(linear, codes);
  for (Index lane = 0; lane < codes.rows(); ++lane) {
    if (rounded_values[lane] < values[lane]) codes.row(lane) = rounded.row(lane);
  }
}

// The convex problem over the box, in which the penalty is the full penalty/4 · ‖z − v‖².
// Coordinate descent finds the same unique point as the authors' ADMM, without a step length.
void CodeStep::RelaxToBox(const MatrixF& linear, MatrixF& codes) const {
  MatrixF matrix = gram_;
  matrix.diagonal().array() += pull_;
  MatrixF slopes = SlopesAt(codes, matrix, linear);
  VectorF change(codes.rows());
  const auto choose = [](float aim, float old, float curvature) {
    return curvature > 0 ? std::clamp(aim / curvature, -1.0F, 1.0F) : old;
  };
  for (int sweep = 0; sweep < kBoxSweeps; ++sweep) {
    if (Sweep(matrix, codes, slopes, change, choose) <= kBoxTolerance) return;
  }
}

// Sets each bit to its best value given the others until nothing changes; returns zᵀGz − 2zᵀb.
VectorF CodeStep::DescendOverBits(const MatrixF& linear, MatrixF& codes) const {
  MatrixF slopes = SlopesAt(codes, gram_, linear);
  VectorF change(codes.rows());
  const auto choose = [](float aim, float old, float /*curvature*/) {
    return aim != 0 ? SignOf(aim) : SignOf(old);
  };
  for (int sweep = 0; sweep < kBitSweeps; ++sweep) {
    if (Sweep(gram_, codes, slopes, change, choose) == 0) break;
  }
  // With s = b − Gz, zᵀGz − 2zᵀb = −zᵀ(b + s).
  return -codes.cwiseProduct(linear + slopes).rowwise().sum();
}

}  // namespace bitpool
