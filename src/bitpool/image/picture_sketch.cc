#include "bitpool/image/picture_sketch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "bitpool/image/perceptual_hash.h"

namespace bitpool {
namespace {

constexpr int kLevels = 4;
constexpr double kRootOfTwo = 1.41421356237309505;

// A patch: kPatchSide² values, every second pixel.
constexpr Index kPatchSide = 8, kPatchStep = 2, kPatchReach = kPatchSide * kPatchStep / 2;
constexpr float kLeastDeviation = 2;  // of a patch, in grey levels; below it is noise

// Corners are taken from all over the picture, so that text or a border cannot have them all.
constexpr Index kCells = 6;  // along each side
constexpr std::array<size_t, kLevels> kPerCell = {3, 2, 2, 1};

// How good a corner each pixel makes: the smaller eigenvalue of the structure tensor, summed over
// 5 × 5 pixels.
GreyImage CornerStrength(const GreyImage& image) {
  const Index width = image.width, height = image.height;
  GreyImage xx = {.width = width, .height = height, .values = {}};
  xx.values.resize(image.values.size());
  GreyImage yy = xx, xy = xx;
  for (Index y = 1; y + 1 < height; ++y) {
    for (Index x = 1; x + 1 < width; ++x) {
      const float dx = image.at(x + 1, y) - image.at(x - 1, y);
      const float dy = image.at(x, y + 1) - image.at(x, y - 1);
      xx.at(x, y) = dx * dx;
      yy.at(x, y) = dy * dy;
      xy.at(x, y) = dx * dy;
    }
  }
  for (GreyImage* sums : {&xx, &yy, &xy}) *sums = Smooth(Smooth(*sums));
  for (size_t i = 0; i < xx.values.size(); ++i) {
    const float half = (xx.values[i] + yy.values[i]) / 2;
    const float apart = (xx.values[i] - yy.values[i]) / 2;
    xx.values[i] = half - std::sqrt(apart * apart + xy.values[i] * xy.values[i]);
  }
  return xx;
}

struct Candidate {
  float strength;
  Index x, y;
  // The strongest first.
  std::tuple<float, Index, Index> order() const { return {-strength, y, x}; }
};

bool IsTop(const GreyImage& strength, Index x, Index y) {
  const float here = strength.at(x, y);
  for (Index v = y - 1; v <= y + 1; ++v) {
    for (Index u = x - 1; u <= x + 1; ++u) {
      const bool before = v < y || (v == y && u < x);
      if (before ? strength.at(u, v) >= here : strength.at(u, v) > here) return false;
    }
  }
  return here > 0;
}

// The strongest of each cell.
std::vector<Candidate> FindCorners(const GreyImage& image, size_t per_cell) {
  const GreyImage strength = CornerStrength(image);
  std::array<std::vector<Candidate>, kCells * kCells> cells;
  for (Index y = kPatchReach; y + kPatchReach <= image.height; ++y) {
    for (Index x = kPatchReach; x + kPatchReach <= image.width; ++x) {
      if (x + 1 >= image.width || y + 1 >= image.height || !IsTop(strength, x, y)) continue;
      const Index cell = y * kCells / image.height * kCells + x * kCells / image.width;
      cells[static_cast<size_t>(cell)].push_back({strength.at(x, y), x, y});
    }
  }
  std::vector<Candidate> corners;
  for (std::vector<Candidate>& cell : cells) {
    std::ranges::sort(cell, {}, &Candidate::order);
    cell.resize(std::min(cell.size(), per_cell));
    corners.insert(corners.end(), cell.begin(), cell.end());
  }
  return corners;
}

// False where there is next to nothing to see.
bool ReadPatch(const GreyImage& smooth, Index x, Index y, Eigen::Ref<VectorF> patch) {
  for (Index v = 0; v < kPatchSide; ++v) {
    for (Index u = 0; u < kPatchSide; ++u) {
      patch[v * kPatchSide + u] =
          smooth.at(x - kPatchReach + 1 + kPatchStep * u, y - kPatchReach + 1 + kPatchStep * v);
    }
  }
  patch.array() -= patch.mean();
  const float length = patch.norm();
  if (length < kLeastDeviation * static_cast<float>(kPatchSide)) return false;
  patch /= length;
  return true;
}

void AddCorners(const GreyImage& image, int level, PictureSketch& sketch,
                std::vector<VectorF>& patches) {
  if (std::min(image.width, image.height) < 2 * kPatchReach) return;
  const GreyImage smooth = Smooth(image);
  const auto factor = static_cast<float>(static_cast<double>(sketch.levels[0].width) /
                                         static_cast<double>(image.width));
  VectorF patch(kPatchSide * kPatchSide);
  for (const Candidate& corner : FindCorners(smooth, kPerCell[static_cast<size_t>(level)])) {
    if (!ReadPatch(smooth, corner.x, corner.y, patch)) continue;
    sketch.corners.push_back({.x = (static_cast<float>(corner.x) + 0.5F) * factor - 0.5F,
                              .y = (static_cast<float>(corner.y) + 0.5F) * factor - 0.5F,
                              .level = level});
    patches.push_back(patch);
  }
}

}  // namespace

PictureSketch SketchPicture(const Picture& picture) {
  const GreyImage grey = ToGreyImage(picture);
  const auto longest = static_cast<double>(std::max(grey.width, grey.height));
  PictureSketch sketch;
  sketch.hash = PerceptualHash(picture);
  double side = kSketchSide;
  for (int level = 0; level < kLevels; ++level, side /= kRootOfTwo) {
    const auto scaled = [&](Index all) {
      return std::max<Index>(1, std::lround(static_cast<double>(all) * side / longest));
    };
    const GreyImage& from = level < 2 ? grey : sketch.levels[static_cast<size_t>(level) - 2];
    sketch.levels.push_back(Resize(from, scaled(grey.width), scaled(grey.height)));
  }
  std::vector<VectorF> patches;
  for (int level = 0; level < kLevels; ++level) {
    AddCorners(sketch.levels[static_cast<size_t>(level)], level, sketch, patches);
  }
  sketch.patches.resize(kPatchSide * kPatchSide, static_cast<Index>(patches.size()));
  for (size_t i = 0; i < patches.size(); ++i) {
    sketch.patches.col(static_cast<Index>(i)) = patches[i];
  }
  return sketch;
}

Picture Mirrored(const Picture& picture) {
  RequirePicture(picture);
  Picture mirrored = picture;
  const Index width = picture.width;
  for (Index y = 0; y < picture.height; ++y) {
    for (Index x = 0; x < width; ++x) {
      const auto from = picture.pixels.begin() + 3 * (y * width + x);
      std::copy(from, from + 3, mirrored.pixels.begin() + 3 * (y * width + width - 1 - x));
    }
  }
  return mirrored;
}

}  // namespace bitpool
