#include "bitpool/hash/baselines/reconstructive_codes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace bitpool {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The least width of an interval, relative to its place and the weight: crossings nearer to each
// other may be one and the same but for rounding, and a weight in single precision could miss the
// interval.
constexpr double kNarrowestInterval = 1e-6;

VectorF BitSigns(const VectorD& projections) {
  return projections.unaryExpr([](double h) { return h < 0 ? -1.0 : 1.0; }).cast<float>();
}

}  // namespace

ReconstructiveCodes::ReconstructiveCodes(MatrixF features, const PairwiseLabels& labels,
                                         MatrixF weights)
    : labels_(labels), features_(std::move(features)), weights_(std::move(weights)) {
  projections_ = features_.cast<double>() * weights_.cast<double>().transpose();
  signs_.resize(weights_.rows(), features_.rows());
  for (Index bit = 0; bit < weights_.rows(); ++bit) {
    signs_.row(bit) = BitSigns(projections_.col(bit)).transpose();
  }
}

double ReconstructiveCodes::Loss() const {
  const auto samples = static_cast<double>(signs_.cols());
  const auto bits = static_cast<double>(signs_.rows());
  const MatrixD signs = signs_.cast<double>();
  double labelled = 0;
  for (Index bit = 0; bit < signs.rows(); ++bit) {
    labelled += labels_.Quadratic(signs.row(bit).transpose());
  }
  const MatrixD gram = signs * signs.transpose();  // as large as the products of the samples
  const double squares = gram.squaredNorm() / (bits * bits) - 2 * labelled / bits;
  return (squares / (samples * samples) + 1) / 4;
}

void ReconstructiveCodes::ImproveWeight(Index bit, Index anchor) {
  const double before = MakeCandidate(bit, signs_.row(bit)).agreement;
  const Interval best = FindBestInterval(bit, anchor);
  if (best.agreement <= before) return;
  const float weight = weights_(bit, anchor) + static_cast<float>(best.Inside());
  const double step = static_cast<double>(weight) - static_cast<double>(weights_(bit, anchor));
  const VectorD moved = projections_.col(bit) + step * features_.col(anchor).cast<double>();
  // Rounding may move samples that lie nearly at zero to the other side.
  const Candidate after = MakeCandidate(bit, BitSigns(moved));
  if (after.agreement <= before) return;
  weights_(bit, anchor) = weight;
  projections_.col(bit) = moved;
  signs_.row(bit) = after.signs.transpose();
}

double ReconstructiveCodes::Interval::Inside() const {
  if (begin == -kInfinity) return end - std::max(1.0, std::abs(end));
  if (end == kInfinity) return begin + std::max(1.0, std::abs(begin));
  return begin + (end - begin) / 2;
}

ReconstructiveCodes::Candidate ReconstructiveCodes::MakeCandidate(Index bit, VectorF signs) const {
  Candidate candidate;
  candidate.signs = std::move(signs);
  candidate.set_sums.resize(static_cast<size_t>(labels_.sets()));
  for (Index i = 0; i < candidate.signs.size(); ++i) {
    const int32_t sign = candidate.signs[i] < 0 ? -1 : 1;
    candidate.set_sums[static_cast<size_t>(labels_.set_of(i))] += sign;
    candidate.sum += sign;
  }
  candidate.bit_sums = signs_ * candidate.signs;
  candidate.bit_sums[bit] = 0;
  double labelled = 0;
  for (Index set = 0; set < labels_.sets(); ++set) {
    labelled += candidate.set_sums[static_cast<size_t>(set)] * Labelled(candidate, set);
  }
  candidate.agreement = static_cast<double>(signs_.rows()) * labelled -
                        candidate.bit_sums.cast<double>().squaredNorm();
  return candidate;
}

double ReconstructiveCodes::Labelled(const Candidate& candidate, Index set) const {
  int32_t alike = 0;
  for (const int32_t other : labels_.alike(set)) {
    alike += candidate.set_sums[static_cast<size_t>(other)];
  }
  return 2 * alike - candidate.sum;
}

// hᵀRh changes by −4 h_i (Rh)_i + 4 R_ii, and R_ii is L − (L − 1).
void ReconstructiveCodes::Flip(Index bit, Index sample, Candidate& candidate) const {
  const Index set = labels_.set_of(sample);
  const double product = static_cast<double>(signs_.rows()) * Labelled(candidate, set) -
                         static_cast<double>(signs_.col(sample).dot(candidate.bit_sums));
  float& sign = candidate.signs[sample];
  candidate.agreement += 4 - 4 * static_cast<double>(sign) * product;
  sign = -sign;
  const int32_t change = sign < 0 ? -2 : 2;
  candidate.set_sums[static_cast<size_t>(set)] += change;
  candidate.sum += change;
  candidate.bit_sums += (2 * sign) * signs_.col(sample);
  candidate.bit_sums[bit] = 0;
}

// Ascending; without the samples whose feature is zero, which never cross.
std::vector<ReconstructiveCodes::Crossing> ReconstructiveCodes::FindCrossings(Index bit,
                                                                              Index anchor) const {
  std::vector<Crossing> crossings;
  crossings.reserve(static_cast<size_t>(features_.rows()));
  for (Index i = 0; i < features_.rows(); ++i) {
    const auto feature = static_cast<double>(features_(i, anchor));
    if (feature != 0) crossings.push_back({-projections_(i, bit) / feature, i});
  }
  std::sort(crossings.begin(), crossings.end(), [](const Crossing& a, const Crossing& b) {
    return a.step != b.step ? a.step < b.step : a.sample < b.sample;
  });
  return crossings;
}

ReconstructiveCodes::Interval ReconstructiveCodes::FindBestInterval(Index bit, Index anchor) const {
  const std::vector<Crossing> crossings = FindCrossings(bit, anchor);
  const double weight = std::abs(static_cast<double>(weights_(bit, anchor)));
  VectorF first_signs = signs_.row(bit);  // before all crossings
  for (const Crossing& crossing : crossings) {
    first_signs[crossing.sample] = features_(crossing.sample, anchor) > 0 ? -1.0F : 1.0F;
  }
  Candidate candidate = MakeCandidate(bit, std::move(first_signs));
  Interval best{-kInfinity, crossings.empty() ? kInfinity : crossings.front().step,
                candidate.agreement};
  for (size_t i = 0; i < crossings.size(); ++i) {
    Flip(bit, crossings[i].sample, candidate);
    const double end = i + 1 < crossings.size() ? crossings[i + 1].step : kInfinity;
    const double begin = crossings[i].step;
    if (candidate.agreement > best.agreement &&
        end - begin > kNarrowestInterval * (weight + std::abs(begin))) {
      best = {begin, end, candidate.agreement};
    }
  }
  return best;
}

}  // namespace bitpool
