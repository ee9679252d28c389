#include "bitpool/image/picture_match.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "bitpool/image/perceptual_hash.h"
#include "bitpool/image/picture_alignment.h"

namespace bitpool {
namespace {

constexpr float kAlike = 0.75F;     // correlation of patches that may show the same
constexpr size_t kMostPairs = 80;   // the most alike
constexpr double kNearEnough = 3;   // pixels by which a corner may lie beside its place
constexpr double kLeastApart = 12;  // pixels between two corners that tell scale and turn
constexpr double kMostScale = 4.5;
constexpr double kMostTurn = 0.40;  // radians
constexpr size_t kLeastInliers = 5;
constexpr int kCoarseSteps = 8, kFineSteps = 4;

constexpr int kCoarse = 2, kFine = 1;  // levels

// Agreement: enough to call two pictures the same, on the fine level or else on the coarse one;
// enough to look no further; and so little that more steps are in vain.
constexpr double kSame = 0.62, kSameFromFar = 0.7;
constexpr double kBeyondDoubt = 0.75;
constexpr double kHopeless = 0.15;
constexpr int kLeastBlocks = 8;
// The share of one picture that must be covered: a copy shows all of the other or is all in it, but
// for the corners that were turned away.
constexpr double kLeastCovered = 0.85;
// The share of the fitting squares that may have moved: in another photograph of the scene, more
// have. Where almost all agree there is no need to look.
constexpr double kMostMoved = 0.1, kNoneMoved = 0.85;

// Perceptual hashes that differ by this few bits are hardly ever of different pictures. Then it is
// enough that two squares in five agree when both are blurred and few moved, or, where there
// are too few squares with something to see, that all pixels correlate.
constexpr int kNearHash = 8;
constexpr double kSameBlurred = 0.4, kMostMovedBlurred = 0.2;
constexpr double kSameFaint = 0.9;

constexpr double kWhole = 0.95;  // a share of the area that counts as all of it

double LevelScale(int level) { return std::pow(2.0, level / 2.0); }

// A corner of the first picture and one of the second that look alike.
struct CornerPair {
  Eigen::Vector2d from, to;
  double scale;  // by the levels they were found on
  float alike;
};

std::vector<CornerPair> PairCorners(const PictureSketch& first, const PictureSketch& second) {
  std::vector<CornerPair> pairs;
  if (first.corners.empty() || second.corners.empty()) return pairs;
  const MatrixF alike = first.patches.transpose() * second.patches;
  std::vector<Index> best_of_second(static_cast<size_t>(alike.cols()));
  for (Index j = 0; j < alike.cols(); ++j) {
    alike.col(j).maxCoeff(&best_of_second[static_cast<size_t>(j)]);
  }
  const MatrixF turned = alike.transpose();
  for (Index i = 0; i < alike.rows(); ++i) {
    Index j = 0;
    const float most = turned.col(i).maxCoeff(&j);
    if (most < kAlike || best_of_second[static_cast<size_t>(j)] != i) continue;
    const SketchCorner& a = first.corners[static_cast<size_t>(i)];
    const SketchCorner& b = second.corners[static_cast<size_t>(j)];
    pairs.push_back({.from = {a.x, a.y},
                     .to = {b.x, b.y},
                     .scale = LevelScale(b.level - a.level),
                     .alike = most});
  }
  std::ranges::stable_sort(pairs, std::greater(), &CornerPair::alike);
  if (pairs.size() > kMostPairs) pairs.resize(kMostPairs);
  return pairs;
}

// The map without shear that two pairs imply, if it is a likely one.
std::optional<AffineMap> MapOf(const CornerPair& a, const CornerPair& b) {
  const Eigen::Vector2d from = b.from - a.from, to = b.to - a.to;
  const double from_length = from.norm(), to_length = to.norm();
  if (from_length < kLeastApart || to_length < kLeastApart) return std::nullopt;
  const double scale = to_length / from_length;
  const auto fits = [&](double other) { return scale < 1.6 * other && other < 1.6 * scale; };
  if (scale > kMostScale || scale * kMostScale < 1 || !fits(a.scale) || !fits(b.scale)) {
    return std::nullopt;
  }
  const double cosine = from.dot(to) / (from_length * to_length);
  const double sine = (from.x() * to.y() - from.y() * to.x()) / (from_length * to_length);
  if (std::abs(sine) > std::sin(kMostTurn) || cosine < 0) return std::nullopt;
  AffineMap map;
  map.leftCols<2>() << scale * cosine, -scale * sine, scale * sine, scale * cosine;
  map.col(2) = a.to - map.leftCols<2>() * a.from;
  return map;
}

std::vector<const CornerPair*> Inliers(const std::vector<CornerPair>& pairs, const AffineMap& map) {
  const double near = kNearEnough * std::max(1.0, ScaleOf(map));
  std::vector<const CornerPair*> inliers;
  for (const CornerPair& pair : pairs) {
    const Eigen::Vector2d place = map.leftCols<2>() * pair.from + map.col(2);
    if ((place - pair.to).squaredNorm() < near * near) inliers.push_back(&pair);
  }
  return inliers;
}

// By least squares, held near the map by which the pairs were chosen, so that few of them, or ones
// that lie on a line, do not shear it.
AffineMap FitMap(const std::vector<const CornerPair*>& pairs, const AffineMap& old) {
  constexpr double kHold = 200;  // pixels²
  Eigen::Vector2d from = Eigen::Vector2d::Zero(), to = from;
  for (const CornerPair* pair : pairs) {
    from += pair->from;
    to += pair->to;
  }
  from /= static_cast<double>(pairs.size());
  to /= static_cast<double>(pairs.size());
  Eigen::Matrix2d spread = kHold * Eigen::Matrix2d::Identity();
  Eigen::Matrix2d across = kHold * old.leftCols<2>();
  for (const CornerPair* pair : pairs) {
    spread += (pair->from - from) * (pair->from - from).transpose();
    across += (pair->to - to) * (pair->from - from).transpose();
  }
  AffineMap map;
  map.leftCols<2>() = across * spread.inverse();
  map.col(2) = to - map.leftCols<2>() * from;
  return map;
}

// The map that most pairs agree on.
std::optional<AffineMap> MapByCorners(const PictureSketch& first, const PictureSketch& second) {
  const std::vector<CornerPair> pairs = PairCorners(first, second);
  std::optional<AffineMap> best;
  size_t most = kLeastInliers - 1;
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const std::optional<AffineMap> map = MapOf(pairs[i], pairs[j]);
      if (!map) continue;
      const size_t count = Inliers(pairs, *map).size();
      if (count <= most) continue;
      most = count;
      best = map;
    }
  }
  for (int round = 0; best && round < 3; ++round) {
    const std::vector<const CornerPair*> inliers = Inliers(pairs, *best);
    if (inliers.size() < kLeastInliers) break;
    best = FitMap(inliers, *best);
  }
  return best;
}

// The map between levels of two sketches, for one between their finest.
AffineMap BetweenLevels(const AffineMap& map, const GreyImage& fine_from, const GreyImage& from,
                        const GreyImage& fine_to, const GreyImage& to) {
  const auto factor = [](Index fine, Index coarse) {
    return static_cast<double>(fine) / static_cast<double>(coarse);
  };
  const Eigen::Vector2d in(factor(fine_from.width, from.width),
                           factor(fine_from.height, from.height));
  const Eigen::Vector2d out(factor(fine_to.width, to.width), factor(fine_to.height, to.height));
  const Eigen::Vector2d half = Eigen::Vector2d::Constant(0.5);
  AffineMap result;
  result.leftCols<2>() = out.cwiseInverse().asDiagonal() * map.leftCols<2>() * in.asDiagonal();
  // Middles of pixels are at whole numbers.
  const Eigen::Vector2d at = in.cwiseProduct(half) - half;
  const Eigen::Vector2d moved = map.leftCols<2>() * at + map.col(2);
  result.col(2) = out.cwiseInverse().cwiseProduct(moved + half) - half;
  return result;
}

// What is compared: a level of each picture, with pixels of about the same size, and the map
// between them. REQUIRES: a scale of 1 or more.
struct LevelPair {
  const GreyImage& from;
  const GreyImage& to;
  AffineMap map;
};

LevelPair LevelsOf(const PictureSketch& first, const PictureSketch& second, const AffineMap& map,
                   int coarser) {
  const auto clamped = [](int level) { return static_cast<size_t>(std::clamp(level, 0, 3)); };
  const int steps = static_cast<int>(std::lround(2 * std::log2(ScaleOf(map))));
  const int level = std::min(coarser, 3 - std::min(3, steps));
  const GreyImage& from = first.levels[clamped(level)];
  const GreyImage& to = second.levels[clamped(level + steps)];
  return {.from = from,
          .to = to,
          .map = BetweenLevels(map, first.levels[0], from, second.levels[0], to)};
}

// Improves the map on levels that are this much coarser. REQUIRES: a scale of 1 or more.
AffineMap Refine(const PictureSketch& first, const PictureSketch& second, const AffineMap& map,
                 int coarser, int steps) {
  const LevelPair levels = LevelsOf(first, second, map, coarser);
  const AffineMap refined = RefineMap(levels.from, levels.to, levels.map, steps);
  return BetweenLevels(refined, levels.from, first.levels[0], levels.to, second.levels[0]);
}

Agreement AgreementAt(const PictureSketch& first, const PictureSketch& second, const AffineMap& map,
                      int coarser) {
  const LevelPair levels = LevelsOf(first, second, map, coarser);
  return MeasureAgreement(levels.from, levels.to, levels.map);
}

// What lies outside the other picture is of one colour, as a border is.
bool RestIsPlain(const GreyImage& image, const GreyImage& other, const AffineMap& map) {
  constexpr double kPlain = 6;  // mean deviation from the median, in grey levels
  constexpr double kEdge = 2;   // pixels that may be of both
  std::vector<float> rest;
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < image.width; ++x) {
      const Eigen::Vector2d place =
          map * Eigen::Vector3d(static_cast<double>(x), static_cast<double>(y), 1);
      const bool inside = place.x() > -kEdge && place.y() > -kEdge &&
                          place.x() < static_cast<double>(other.width - 1) + kEdge &&
                          place.y() < static_cast<double>(other.height - 1) + kEdge;
      if (!inside) rest.push_back(image.at(x, y));
    }
  }
  if (rest.empty()) return true;
  const auto middle = rest.begin() + static_cast<ptrdiff_t>(rest.size() / 2);
  std::ranges::nth_element(rest, middle);
  const float median = *middle;
  double apart = 0;
  for (const float value : rest) apart += std::abs(value - median);
  return apart < kPlain * static_cast<double>(rest.size());
}

struct Laid {
  PictureMatch match;
  bool same = false;
};

PictureRelation RelationOf(const PictureSketch& first, const PictureSketch& second,
                           const AffineMap& map, const PictureMatch& match) {
  const bool first_whole = match.first_covered >= kWhole;
  const bool second_whole = match.second_covered >= kWhole;
  if (first_whole == second_whole) return PictureRelation::kEdited;
  const GreyImage &a = first.levels[2], &b = second.levels[2];
  const AffineMap there = BetweenLevels(map, first.levels[0], a, second.levels[0], b);
  if (first_whole) {
    return RestIsPlain(b, a, Inverse(there)) ? PictureRelation::kEdited
                                             : PictureRelation::kFirstIsPart;
  }
  return RestIsPlain(a, b, there) ? PictureRelation::kEdited : PictureRelation::kSecondIsPart;
}

// REQUIRES: a scale of 1 or more.
Laid LayOverScaled(const PictureSketch& first, const PictureSketch& second, AffineMap map) {
  Laid laid;
  map = Refine(first, second, map, kCoarse, kCoarseSteps);
  const Agreement rough = AgreementAt(first, second, map, kCoarse);
  laid.match.agreement = rough.agreeing;
  if (rough.agreeing < kHopeless) return laid;
  map = Refine(first, second, map, kFine, kFineSteps);
  const LevelPair levels = LevelsOf(first, second, map, kFine);
  const Agreement fine = MeasureAgreement(levels.from, levels.to, levels.map);
  // A picture that was blurred agrees only when it is looked at from afar.
  const Agreement coarse = AgreementAt(first, second, map, kCoarse);
  const bool from_far = fine.agreeing < kSame && coarse.agreeing >= kSameFromFar;
  const Agreement& seen = from_far ? coarse : fine;
  laid.match.agreement = seen.agreeing;
  laid.match.first_covered = fine.covered;
  laid.match.second_covered = MeasureAgreement(levels.to, levels.from, Inverse(levels.map)).covered;
  laid.same = seen.agreeing >= kSame && seen.blocks >= kLeastBlocks &&
              std::max(laid.match.first_covered, laid.match.second_covered) >= kLeastCovered &&
              (fine.agreeing >= kNoneMoved ||
               MeasureMoved(levels.from, levels.to, levels.map) <= kMostMoved);
  if (laid.same) laid.match.relation = RelationOf(first, second, map, laid.match);
  return laid;
}

Laid Swapped(Laid laid) {
  std::swap(laid.match.first_covered, laid.match.second_covered);
  if (laid.match.relation == PictureRelation::kFirstIsPart) {
    laid.match.relation = PictureRelation::kSecondIsPart;
  } else if (laid.match.relation == PictureRelation::kSecondIsPart) {
    laid.match.relation = PictureRelation::kFirstIsPart;
  }
  return laid;
}

Laid LayOver(const PictureSketch& first, const PictureSketch& second, const AffineMap& map) {
  if (ScaleOf(map) >= 1) return LayOverScaled(first, second, map);
  return Swapped(LayOverScaled(second, first, Inverse(map)));
}

AffineMap WholeToWhole(const GreyImage& from, const GreyImage& to) {
  return BetweenLevels(AffineMap::Identity(), to, from, to, to);
}

// Whether two pictures that look the same from afar are the same, one laid over the other as it is:
// faint ones, and those that differ by a blur or by what became white.
PictureMatch MatchFromAfar(const PictureSketch& first, const PictureSketch& second) {
  const GreyImage &a = first.levels[kFine], &b = second.levels[kFine];
  const AffineMap map = WholeToWhole(a, b);
  const GreyImage blurred_a = Smooth(Smooth(a)), blurred_b = Smooth(Smooth(b));
  const Agreement blurred = MeasureAgreement(blurred_a, blurred_b, map);
  PictureMatch match;
  const bool faint = blurred.blocks < kLeastBlocks;
  match.agreement = faint ? MeasureCorrelation(a, b, map) : blurred.agreeing;
  if (match.agreement < (faint ? kSameFaint : kSameBlurred)) return match;
  if (!faint && MeasureMoved(blurred_a, blurred_b, map) > kMostMovedBlurred) return match;
  match.first_covered = match.second_covered = 1;
  match.relation = PictureRelation::kEdited;
  return match;
}

}  // namespace

PictureMatch MatchPictures(const PictureSketch& first, const PictureSketch& second) {
  const Laid whole = LayOver(first, second, WholeToWhole(first.levels[0], second.levels[0]));
  if (whole.same && whole.match.agreement >= kBeyondDoubt) return whole.match;
  Laid best = whole;
  if (const std::optional<AffineMap> map = MapByCorners(first, second)) {
    const Laid moved = LayOver(first, second, *map);
    const auto worth = [](const Laid& laid) { return std::pair(laid.same, laid.match.agreement); };
    if (worth(moved) > worth(whole)) best = moved;
  }
  if (best.same || HashDistance(first.hash, second.hash) > kNearHash) return best.match;
  const PictureMatch from_afar = MatchFromAfar(first, second);
  return from_afar.relation == PictureRelation::kDifferent ? best.match : from_afar;
}

}  // namespace bitpool
