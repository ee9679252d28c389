#include "bitpool/codes/penalty_bound.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "bitpool/codes/asymmetric_scan.h"
#include "bitpool/codes/code_blocks.h"
#include "bitpool/codes/early_look.h"

namespace bitpool {
namespace {

// Codes of more bytes have sums of 16 bits, which lose less to rounding. Sums of 8 bits take half
// the work with nibbles, but hardly less with seven bits.
constexpr size_t kMaxNarrowBytes = 32;
constexpr size_t kMaxNarrowSevenBytes = 16;
// The largest limits. Entries of codes of few bytes count up to 127 at least: with a limit below
// that, each entry can rule a code out on its own. With more bytes twice the resolution is worth
// more.
constexpr size_t kShortBytes = 4;
constexpr double kShortLimit = 126;
constexpr double kNarrowLimit = 254;
constexpr double kWideLimit = 65534;
constexpr double kWideEntry = 127;  // of a nibble, so that those of a byte fit into one
// Tables are made again when D has fallen to this share of what they were made for.
constexpr double kCoarse = 0.75;
// Tens of thousands of times what the roundings of scale and entries can add up to.
constexpr double kMargin = 1e-11;
constexpr double kUnitRoundoff = std::numeric_limits<double>::epsilon() / 2;

double LargestLimit(size_t bytes, bool wide) {
  if (wide) return kWideLimit;
  return bytes <= kShortBytes ? kShortLimit : kNarrowLimit;
}

bool Positive(double weight) { return weight >= 0; }

// The penalties of all values of `bits` bits, each the sum over the bits in order.
void ListPenalties(const double* weights, int bits, double* penalties) {
  penalties[0] = 0;
  for (int i = 0; i < bits; ++i) {
    const double one = Positive(weights[i]) ? 0 : -weights[i];
    const double zero = Positive(weights[i]) ? weights[i] : 0;
    const size_t half = size_t{1} << i;
    for (size_t value = 0; value < half; ++value) {
      penalties[half + value] = penalties[value] + one;
      penalties[value] += zero;
    }
  }
}

void QuantisePenalties(const double* penalties, size_t count, double scale, double most,
                       uint8_t* entries) {
  for (size_t i = 0; i < count; ++i)
    entries[i] = static_cast<uint8_t>(static_cast<int>(std::min(penalties[i] * scale, most)));
}

// The scale of sums of 16 bits at which tables of nibbles lose least, over all values of all
// nibbles: small entries lose by rounding, large ones where they do not fit. It depends only on the
// weights.
double ChooseNibbleScale(const double* weights, size_t bytes) {
  std::vector<double> penalties(bytes * 32);
  double largest = 0;
  for (size_t nibble = 0; nibble < bytes * 2; ++nibble)
    ListPenalties(weights + nibble * 4, 4, &penalties[nibble * 16]);
  for (const double penalty : penalties) largest = std::max(largest, penalty);
  if (largest == 0) return 0;
  constexpr int kDoublings = 14;
  double best_scale = 0;
  double best_kept = -1;
  for (int i = 0; i < kDoublings; ++i) {
    const double scale = std::ldexp(kWideEntry / largest, i);
    double kept = 0;
    for (const double penalty : penalties)
      kept += std::floor(std::min(penalty * scale, kWideEntry)) / scale;
    if (kept <= best_kept) break;
    best_kept = kept;
    best_scale = scale;
  }
  return best_scale;
}

// The scale of sums of 16 bits at which tables of seven bits lose least where the penalties of two
// bytes, in this order, are added up in a byte: to rounding, which takes away half a unit for the
// seven bits and half for the highest, and where a sum does not fit. Of a far code, a sum is rarely
// more than two standard deviations above its mean.
double ChoosePairScale(const double* weights, std::span<const uint32_t> order) {
  constexpr double kRounding = 2;
  constexpr double kFits = 255;
  constexpr double kFiner = 1.25;
  constexpr int kSteps = 48;
  std::vector<double> usual;  // sums of far codes, or a little more
  for (size_t p = 0; p < order.size(); p += 2) {
    double sum = 0, squares = 0;
    for (size_t q = p; q < std::min(p + 2, order.size()); ++q) {
      for (size_t i = 0; i < 8; ++i) {
        const double weight = weights[order[q] * 8 + i];
        sum += std::abs(weight);
        squares += weight * weight;
      }
    }
    usual.push_back(sum / 2 + std::sqrt(squares));
  }
  const double largest = *std::max_element(usual.begin(), usual.end());
  if (largest == 0) return 0;
  double best_scale = 0;
  double best_kept = -std::numeric_limits<double>::infinity();
  double scale = kFits / largest;
  for (int step = 0; step < kSteps; ++step, scale *= kFiner) {
    double kept = 0;
    for (const double penalty : usual)
      kept += std::max(0.0, std::min(penalty * scale, kFits) - kRounding) / scale;
    if (kept <= best_kept) break;
    best_kept = kept;
    best_scale = scale;
  }
  return best_scale;
}

}  // namespace

void PenaltyBound::RuleOutBelow(double score, const RealQueries& queries, size_t query) {
  if (state_ == State::kTables && score <= score_) return;
  // Why nothing is missed. Let u = 2⁻⁵³, n the number of bits, A = Σ|hᵢ|, and Â and ŝ the computed
  // total and score of a code. Sums of n numbers are off by at most about nu times the sum of
  // their magnitudes: |Â − A| and |ŝ − s| are below 1.01 nuA. A code with ŝ >= score has
  //   d = (A − s) / 2 <= (Â − score) / 2 + 1.01 nuA,
  // and the two roundings of the right side add less than 2uA. Four times that is allowed for.
  const double total = queries.best_score(query);
  const double slack = 4 * (queries.bits() + 2) * kUnitRoundoff * total;
  penalty_ = (total - score) / 2 + slack;
  score_ = score;
  if (state_ != State::kTables || Coarse()) Quantise(queries, query);
  // Every entry is at most its penalty times the scale times (1 + 8u), for the roundings of the at
  // most seven additions and the product; the margin is far larger than that.
  limit_ = static_cast<uint32_t>(penalty_ * scale_ * (1 + kMargin));
}

bool PenaltyBound::Coarse() const {
  return penalty_ * scale_ < kCoarse * LargestLimit(bytes_, wide_) &&
         (!wide_ || scale_ < wide_scale_);
}

void PenaltyBound::Quantise(const RealQueries& queries, size_t query) {
  bytes_ = queries.bytes_per_code();
  seven_bits_ = ScansSevenBits();
  wide_ = bytes_ > (seven_bits_ ? kMaxNarrowSevenBytes : kMaxNarrowBytes);
  const double* weights = queries.weights(query);
  // Weights that are all zero have no penalties: all codes are within any limit.
  scale_ = penalty_ > 0 ? LargestLimit(bytes_, wide_) / penalty_ * (1 - 2 * kMargin) : 0;
  if (wide_) {
    if (!knows_wide_scale_) {
      wide_scale_ = seven_bits_ ? ChoosePairScale(weights, queries.order(query))
                                : ChooseNibbleScale(weights, bytes_);
      knows_wide_scale_ = true;
    }
    scale_ = std::min(scale_, wide_scale_);
  }
  const std::span<const uint32_t> order = queries.order(query);
  order_.assign(order.begin(), order.end());
  ChooseEarly(weights);
  if (seven_bits_) {
    FillSevenBits(weights);
  } else {
    FillNibbles(weights);
  }
  ListEarlyLines();
  state_ = State::kTables;
}

// By the penalties as the tables have them: a byte has two entries, and each loses half a unit to
// rounding.
void PenaltyBound::ChooseEarly(const double* weights) {
  const double rounding = scale_ > 0 ? 1 / scale_ : 0;
  const auto bytes_until_out = [&](const auto& plane) {
    double sum = 0, squares = 0;
    size_t p = 0;
    while (p < bytes_) {
      const double* of_plane = weights + plane(p++) * 8;
      for (size_t i = 0; i < 8; ++i) {
        sum += std::abs(of_plane[i]);
        squares += of_plane[i] * of_plane[i];
      }
      if (AlmostSurelyOut(sum, squares, penalty_ + static_cast<double>(p) * rounding)) break;
    }
    return p;
  };
  early_ = bytes_until_out([this](size_t p) { return order_[p]; });
  early_unordered_ = bytes_until_out([](size_t p) { return p; });
}

void PenaltyBound::ListEarlyLines() {
  const size_t count = seven_bits_ && wide_ ? (early_ + 1) / 2 * 2 : early_;
  early_lines_.clear();
  for (size_t b = 0; b < kRealBlocksAtOnce; ++b) {
    const auto first = static_cast<ptrdiff_t>(early_lines_.size());
    for (size_t p = 0; p < count; ++p)
      early_lines_.push_back(static_cast<uint32_t>((b * bytes_ + order_[p]) * kBlockCodes));
    std::sort(early_lines_.begin() + first, early_lines_.end());
  }
}

void PenaltyBound::FillNibbles(const double* weights) {
  if (tables_.size() < bytes_ * 32) tables_ = AlignedBytes(bytes_ * 32);
  const double most = wide_ ? kWideEntry : 255;
  double penalties[16];
  for (size_t nibble = 0; nibble < bytes_ * 2; ++nibble) {
    ListPenalties(weights + nibble * 4, 4, penalties);
    QuantisePenalties(penalties, 16, scale_, most, tables_.data() + nibble * 16);
  }
}

// An entry of seven bits and that of the highest never add up to more than 255. A single bit is
// counted with at most half of that: where its weight is so large, two such penalties still rule a
// code out.
void PenaltyBound::FillSevenBits(const double* weights) {
  constexpr size_t kPlaneBytes = 192;
  const size_t planes = wide_ ? (bytes_ + 1) / 2 * 2 : bytes_;
  if (tables_.size() < planes * kPlaneBytes) tables_ = AlignedBytes(planes * kPlaneBytes);
  double penalties[128];
  for (size_t p = 0; p < bytes_; ++p) {
    const double* of_plane = weights + order_[p] * 8;
    uint8_t* entries = tables_.data() + p * kPlaneBytes;
    uint8_t highest = 0;
    const double penalty = std::abs(of_plane[7]);
    QuantisePenalties(&penalty, 1, scale_, 127, &highest);
    ListPenalties(of_plane, 7, penalties);
    QuantisePenalties(penalties, 128, scale_, 255 - highest, entries);
    const bool zero_costs = Positive(of_plane[7]);
    if (zero_costs) {
      for (size_t i = 0; i < 128; ++i) entries[i] = static_cast<uint8_t>(entries[i] + highest);
    }
    std::memset(entries + 128, zero_costs ? -highest : highest, 64);
  }
  if (planes > bytes_) {
    order_.push_back(0);
    std::memset(tables_.data() + bytes_ * kPlaneBytes, 0, kPlaneBytes);
  }
}

}  // namespace bitpool
