#include "bitpool/image/picture_alignment.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace bitpool {
namespace {

// Six numbers of the map, gain and bias.
constexpr int kUnknowns = 8;
using Normal = Eigen::Matrix<double, kUnknowns, kUnknowns>;
using Unknowns = Eigen::Matrix<double, kUnknowns, 1>;
using UnknownsF = Eigen::Matrix<float, kUnknowns, 1>;

constexpr float kOutlier = 12;          // grey levels beyond which a pixel counts half or less
constexpr Index kLeastPixels = 100;     // that are needed for a step
constexpr Index kBlockSide = 8;         // pixels
constexpr float kLeastContrast = 3;     // deviation of a block in which there is something to see
constexpr float kAgrees = 0.8F;         // correlation of a block that looks the same
constexpr double kBlockCovered = 0.75;  // of a block's pixels must lie in both pictures
constexpr int kFarthestMove = 2;        // how many pixels away a block is looked for
constexpr float kFitsBetter = 0.05F;    // in correlation
constexpr double kRounding = 0.5;       // deviation of what may be rounding alone

// The gain and bias that make the other picture look like the image.
struct LightChange {
  float gain = 1, bias = 0;
};

// Calls visit(x, y, u, v) for every pixel of the image that lies in the other at (u, v).
template <class Visit>
void ForEachShared(const GreyImage& image, const GreyImage& other, const AffineMap& map,
                   const Visit& visit) {
  const Eigen::Matrix<float, 2, 3> m = map.cast<float>();
  const auto right = static_cast<float>(other.width - 1),
             bottom = static_cast<float>(other.height - 1);
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < image.width; ++x) {
      const auto fx = static_cast<float>(x), fy = static_cast<float>(y);
      const float u = m(0, 0) * fx + m(0, 1) * fy + m(0, 2);
      const float v = m(1, 0) * fx + m(1, 1) * fy + m(1, 2);
      if (u >= 0 && v >= 0 && u <= right && v <= bottom) visit(x, y, u, v);
    }
  }
}

// The sums over pairs of pixels that deviations and correlations are made of.
template <class Number>
struct PairSums {
  Number n = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;

  void Add(Number here, Number there) {
    n += 1;
    a += here;
    b += there;
    aa += here * here;
    bb += there * there;
    ab += here * there;
  }
};

PairSums<double> SumShared(const GreyImage& image, const GreyImage& other, const AffineMap& map) {
  PairSums<double> sums;
  ForEachShared(image, other, map, [&](Index x, Index y, float u, float v) {
    sums.Add(image.at(x, y), ValueAt(other, u, v));
  });
  return sums;
}

LightChange FitLight(const GreyImage& image, const GreyImage& other, const AffineMap& map) {
  const auto [n, a, b, aa, bb, ab] = SumShared(image, other, map);
  if (n < 2 || bb * n - b * b <= 0) return {};
  // By the deviations and not by regression, which would be near zero before the pictures fit.
  const double gain = std::sqrt(std::max(0.0, aa * n - a * a) / (bb * n - b * b));
  return {.gain = static_cast<float>(gain), .bias = static_cast<float>((a - gain * b) / n)};
}

// Sums over pixels, which give the step by least squares.
class NormalEquations {
 public:
  // Adds a pixel: how its difference changes with the unknowns, the difference, and what it counts.
  void Add(const UnknownsF& slope, float difference, float weight) {
    block_.triangularView<Eigen::Lower>() += weight * slope * slope.transpose();
    block_right_ += weight * difference * slope;
    if (++pixels_ % kBlock == 0) Flush();
  }

  Index pixels() const { return pixels_; }

  Unknowns Solve() {
    Flush();
    Normal whole = sums_.selfadjointView<Eigen::Lower>();
    whole.diagonal() *= 1 + 1e-4;
    whole.diagonal().array() += 1e-3;
    return whole.ldlt().solve(right_);
  }

 private:
  static constexpr Index kBlock = 128;  // sums in single precision stay short

  void Flush() {
    sums_ += block_.cast<double>();
    right_ += block_right_.cast<double>();
    block_.setZero();
    block_right_.setZero();
  }

  Normal sums_ = Normal::Zero();
  Unknowns right_ = Unknowns::Zero();
  Eigen::Matrix<float, kUnknowns, kUnknowns> block_ =
      Eigen::Matrix<float, kUnknowns, kUnknowns>::Zero();
  UnknownsF block_right_ = UnknownsF::Zero();
  Index pixels_ = 0;
};

// One step; false when there is too little to go by.
bool Step(const GreyImage& image, const GreyImage& other, AffineMap& map, LightChange& light) {
  NormalEquations equations;
  // Around the middle, so that the numbers of the map disturb each other little.
  const float middle_x = static_cast<float>(image.width) / 2;
  const float middle_y = static_cast<float>(image.height) / 2;
  const auto right = static_cast<float>(other.width), bottom = static_cast<float>(other.height);
  ForEachShared(image, other, map, [&](Index x, Index y, float u, float v) {
    if (u < 1 || v < 1 || u + 2 > right || v + 2 > bottom) return;
    const float there = ValueAt(other, u, v);
    const float dx = light.gain * (ValueAt(other, u + 0.5F, v) - ValueAt(other, u - 0.5F, v));
    const float dy = light.gain * (ValueAt(other, u, v + 0.5F) - ValueAt(other, u, v - 0.5F));
    const float difference = image.at(x, y) - light.gain * there - light.bias;
    const float px = static_cast<float>(x) - middle_x, py = static_cast<float>(y) - middle_y;
    UnknownsF slope;
    slope << dx * px, dx * py, dx, dy * px, dy * py, dy, there, 1;
    equations.Add(slope, difference, 1 / (1 + difference * difference / (kOutlier * kOutlier)));
  });
  if (equations.pixels() < kLeastPixels) return false;
  const Unknowns step = equations.Solve();
  if (!step.allFinite()) return false;
  for (int line = 0; line < 2; ++line) {
    map(line, 0) += step[3 * line];
    map(line, 1) += step[3 * line + 1];
    map(line, 2) += step[3 * line + 2] - step[3 * line] * middle_x - step[3 * line + 1] * middle_y;
  }
  light.gain = std::clamp(light.gain + static_cast<float>(step[6]), 0.1F, 10.0F);
  light.bias += static_cast<float>(step[7]);
  return true;
}

// The sums over a square of the image.
struct BlockSums : PairSums<float> {
  // The squares of the deviations, times the number of pixels.
  float spread_a() const { return aa - a * a / n; }
  float spread_b() const { return bb - b * b / n; }

  bool is_covered() const {
    return n >= static_cast<float>(kBlockCovered * kBlockSide * kBlockSide);
  }
  bool has_contrast() const {
    return std::max(spread_a(), spread_b()) >= kLeastContrast * kLeastContrast * n;
  }
  float correlation() const {
    return (ab - a * b / n) / std::sqrt(std::max(spread_a(), 1.0F) * std::max(spread_b(), 1.0F));
  }
};

// Those of every square of the image; `shared` counts the pixels in them.
std::vector<BlockSums> SumBlocks(const GreyImage& image, const GreyImage& other,
                                 const AffineMap& map, Index& shared) {
  const Index across = (image.width + kBlockSide - 1) / kBlockSide;
  const Index down = (image.height + kBlockSide - 1) / kBlockSide;
  std::vector<BlockSums> blocks(static_cast<size_t>(across * down));
  shared = 0;
  ForEachShared(image, other, map, [&](Index x, Index y, float u, float v) {
    ++shared;
    blocks[static_cast<size_t>(y / kBlockSide * across + x / kBlockSide)].Add(
        image.at(x, y) - 128, ValueAt(other, u, v) - 128);
  });
  return blocks;
}

}  // namespace

AffineMap Inverse(const AffineMap& map) {
  AffineMap inverse;
  inverse.leftCols<2>() = map.leftCols<2>().inverse();
  inverse.col(2) = -inverse.leftCols<2>() * map.col(2);
  return inverse;
}

double ScaleOf(const AffineMap& map) {
  return std::sqrt(std::abs(map.leftCols<2>().determinant()));
}

AffineMap RefineMap(const GreyImage& image, const GreyImage& other, AffineMap map, int steps) {
  LightChange light = FitLight(image, other, map);
  for (int step = 0; step < steps; ++step) {
    AffineMap next = map;
    if (!Step(image, other, next, light)) break;
    // A step that turns the picture into something else has lost its way.
    const double scale = ScaleOf(next) / ScaleOf(map);
    if (!(scale > 0.8 && scale < 1.25)) break;
    map = next;
  }
  return map;
}

Agreement MeasureAgreement(const GreyImage& image, const GreyImage& other, const AffineMap& map) {
  Index shared = 0;
  Agreement agreement;
  int agreeing = 0;
  for (const BlockSums& sums : SumBlocks(image, other, map, shared)) {
    if (!sums.is_covered() || !sums.has_contrast()) continue;
    ++agreement.blocks;
    agreeing += sums.correlation() > kAgrees ? 1 : 0;
  }
  if (agreement.blocks > 0) {
    agreement.agreeing = static_cast<double>(agreeing) / static_cast<double>(agreement.blocks);
  }
  agreement.covered = static_cast<double>(shared) / static_cast<double>(image.width * image.height);
  return agreement;
}

double MeasureMoved(const GreyImage& image, const GreyImage& other, const AffineMap& map) {
  Index shared = 0;
  const std::vector<BlockSums> still = SumBlocks(image, other, map, shared);
  std::vector<float> best(still.size(), -1);
  for (int dy = -kFarthestMove; dy <= kFarthestMove; ++dy) {
    for (int dx = -kFarthestMove; dx <= kFarthestMove; ++dx) {
      AffineMap moved = map;
      moved.col(2) += Eigen::Vector2d(dx, dy);
      const std::vector<BlockSums> there = SumBlocks(image, other, moved, shared);
      for (size_t i = 0; i < best.size(); ++i) {
        if (there[i].is_covered()) best[i] = std::max(best[i], there[i].correlation());
      }
    }
  }
  int fitting = 0, moved = 0;
  for (size_t i = 0; i < still.size(); ++i) {
    if (!still[i].is_covered() || !still[i].has_contrast() || best[i] <= kAgrees) continue;
    ++fitting;
    moved += best[i] > still[i].correlation() + kFitsBetter ? 1 : 0;
  }
  return fitting == 0 ? 0 : static_cast<double>(moved) / fitting;
}

double MeasureCorrelation(const GreyImage& image, const GreyImage& other, const AffineMap& map) {
  const auto [n, a, b, aa, bb, ab] = SumShared(image, other, map);
  const double spread_a = aa * n - a * a, spread_b = bb * n - b * b;
  if (std::min(spread_a, spread_b) < n * n * kRounding * kRounding || n == 0) return 0;
  return (ab * n - a * b) / std::sqrt(spread_a * spread_b);
}

}  // namespace bitpool
